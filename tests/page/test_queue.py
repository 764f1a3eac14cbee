"""The queue: a few at once, the others in order, and not too many."""

import threading

import pytest

from page.queue import Busy, Queue


def test_a_full_queue_turns_the_next_away():
    queue = Queue(1, 2)
    with queue.join() as first, queue.join() as second:
        assert (first.wait(0), second.wait(0)) == (0, 1)
        with pytest.raises(Busy, match="busy: 2 questions are waiting"), queue.join():
            pass
    assert len(queue) == 0
    with queue.join() as next_one:
        assert next_one.wait(0) == 0


def test_those_who_wait_are_served_in_order():
    queue, served = Queue(1, 10), []

    def visit(number):
        with queue.join() as place:
            arrived.set()
            while place.wait(1):
                pass
            served.append(number)

    with queue.join():
        visitors = []
        for number in range(5):
            arrived = threading.Event()
            visitors.append(threading.Thread(target=visit, args=(number,)))
            visitors[-1].start()
            assert arrived.wait(10)
    for visitor in visitors:
        visitor.join()
    assert served == list(range(5))
