"""Trains the retriever and the language model's adapter: `stickler tune`."""
