"""Training runs on the server: reading them, starting and stopping them, their networks."""
