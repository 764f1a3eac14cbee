"""All benchmarks. Run as: python -m bench > bench/RESULTS.md"""

from bench import search, start


def main() -> None:
    print("# Last run of `make bench`")
    start.main()
    search.main()


if __name__ == "__main__":
    main()
