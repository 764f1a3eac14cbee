"""All benchmarks. Run as: python -m bench > bench/RESULTS.md"""

import os
import platform

from bench import answers, batch, fusion, search, start, unseen


def main() -> None:
    print("# Benchmarks\n")
    print("Written by `python -m bench > bench/RESULTS.md`; do not edit.\n")
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, no GPU used.")
    start.main()
    answers.main()
    batch.main()
    search.main()
    fusion.main()
    unseen.main()


if __name__ == "__main__":
    main()
