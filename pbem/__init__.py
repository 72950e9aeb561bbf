"""A server on which people play auction games over days, by mail.

Imports point one way: `web`, `worker` and `cli` call `service`; `service` calls `store`, `links` and
`domain`; `domain` calls the engine; nothing points back.
"""
