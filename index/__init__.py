"""Rules documents: read, arrange by number and edition, embed, search. Knows no language model."""

import os

# Threads of torch and faiss that wait for each other spin; where another process holds a core they
# would all but stand still. A short spin is nearly as fast alone and keeps its pace in company.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
