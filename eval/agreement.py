"""How well the measures of a free answer agree with people: 60 answers were judged by hand."""

import json
from typing import NamedTuple

from eval import output_parsing
from eval.items import SETS
from index.embedder import Embedder

JUDGED = SETS / "judged.jsonl"


class Agreement(NamedTuple):
    measure: str
    rank_correlation: float  # Spearman's, with the judgement (1 right, 0.5 partly, 0 wrong)
    told_apart: float  # how often a right or partly right answer scores above a wrong one
    answers: int


def agreement(embedder: Embedder) -> list[Agreement]:
    from scipy.stats import spearmanr
    from sklearn.metrics import roc_auc_score

    rows = [json.loads(line) for line in JUDGED.read_text(encoding="utf-8").splitlines()]
    judged = [row["judgement"] for row in rows]
    said, gold = (
        embedder.encode_questions([row[key] for row in rows]) for key in ("answer", "gold")
    )
    scores = {
        "words shared with gold": [output_parsing.overlap(row["answer"], row["gold"]) for row in rows],
        "meaning near gold": (said * gold).sum(axis=1).tolist(),
    }
    return [
        Agreement(
            name,
            float(spearmanr(values, judged).statistic),
            float(roc_auc_score([one > 0 for one in judged], values)),
            len(rows),
        )
        for name, values in scores.items()
    ]
