"""Speed, as ratios against a reference in the same run: machines are noisy, ratios less so."""
