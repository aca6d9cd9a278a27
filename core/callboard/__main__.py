from callboard.cli import main

raise SystemExit(main())
