"""Rules documents: read, arrange by number and edition, embed, search. Knows no language model."""
