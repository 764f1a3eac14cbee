"""The prompt files: system prompts, prompt templates, and worked examples."""
