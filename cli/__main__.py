"""Run as: python -m cli rules show 702.19b"""

from cli.main import main

main()
