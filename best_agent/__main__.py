"""`python -m best_agent` is `best-agent`."""

from best_agent.cli.main import main

raise SystemExit(main())
