"""Measures how well rules are found and questions answered."""
