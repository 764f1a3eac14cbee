"""Fine-tunes the embedding model on players' questions: `stickler tune retriever`."""
