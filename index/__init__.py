"""Rules documents: read, organise by number and edition, embed, search. No language models here."""

import os

# Waiting threads of torch and faiss spin, and almost stall if another process holds a core. A short
# spin is nearly as fast on an idle machine and stays fast on a busy one.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
# What numpy multiplies here is small: threads of its own would only get in the way of these.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
