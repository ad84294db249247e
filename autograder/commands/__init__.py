"""One module a command: from parsed arguments to an exit status. ``cli`` imports a module when its command is run."""
