"""The texts that a language model is prompted with: system.txt (fixed) and answer.txt (filled)."""
