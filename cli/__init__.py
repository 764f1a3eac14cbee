"""The command `stickler`."""
