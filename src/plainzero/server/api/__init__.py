"""HTTP routes, the WebSocket, their message schemas, and access control."""
