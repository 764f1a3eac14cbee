"""The texts that a language model is prompted with."""
