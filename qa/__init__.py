"""From a question to an answer with checked citations. Knows no front end."""
