"""A server for auction games played over days by email.

Imports point one way: `web`, `worker` and `cli` call `service`; `service` calls `store`, `mail` and `domain`; `domain` calls
the engine.
"""
