"""All benchmarks. Run as: python -m bench > bench/RESULTS.md"""

from bench import answers, batch, fusion, search, start


def main() -> None:
    print("# Last run of `make bench`")
    start.main()
    answers.main()
    batch.main()
    search.main()
    fusion.main()


if __name__ == "__main__":
    main()
