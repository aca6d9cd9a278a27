from callboard.headless.command import main

raise SystemExit(main())
