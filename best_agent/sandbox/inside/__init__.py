"""Code that runs inside the sandbox: the supervisor and what it starts. Standard library only.

It is started with `-I -S` in a fresh interpreter; it must import nothing else of ours, so that no secret
and no slow import comes with it.
"""
