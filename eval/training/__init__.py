"""Teaches the small models on players' questions: `stickler tune retriever|reranker|answers`."""
