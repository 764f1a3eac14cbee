"""What the web page shows, in small pure functions, and what its visitors share."""
