"""How well the metrics for free answers agree with a reader, on 60 judged answers."""

from typing import NamedTuple

from eval import output_parsing
from eval.items import SETS, rows
from index.embedder import Embedder

JUDGED = SETS / "judged.jsonl"


class Agreement(NamedTuple):
    measure: str
    rank_correlation: float  # Spearman's, with the judgement (1 right, 0.5 partly, 0 wrong)
    auc: float  # how often a right or partly right answer scores above a wrong one
    answers: int


def agreement(embedder: Embedder) -> list[Agreement]:
    """How well each metric agrees with the judgements."""
    from scipy.stats import spearmanr
    from sklearn.metrics import roc_auc_score

    judged = rows(JUDGED)
    judgements = [row["judgement"] for row in judged]
    answers, gold = (
        embedder.encode_questions([row[key] for row in judged]) for key in ("answer", "gold")
    )
    scores = {
        "token F1": [output_parsing.overlap(row["answer"], row["gold"]) for row in judged],
        "similarity to gold": (answers * gold).sum(axis=1).tolist(),
    }
    return [
        Agreement(
            name,
            float(spearmanr(values, judgements).statistic),
            float(roc_auc_score([one > 0 for one in judgements], values)),
            len(judged),
        )
        for name, values in scores.items()
    ]
