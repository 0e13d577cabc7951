# Functions whose calls are known: loops, recursion, generators, callbacks of C code, exceptions, threads, a fork.
import os
import threading


def once(n):
    x = 1
    for _ in range(n):
        x = x ^ 3
    return x


def twice(n):
    x = 1
    for _ in range(n):
        x = x ^ 3
    return x


def thrice(n):
    x = 1
    for _ in range(n):
        x = x ^ 3
    return x


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def numbers():
    for i in range(10):
        yield i


def key(x):
    return -x


def sort():
    return sorted(range(100), key=key)


def fail(depth):
    if depth == 0:
        raise ValueError
    fail(depth - 1)


def catch():
    try:
        fail(5)
    except ValueError:
        return len("a")


class Größe:
    def method(self):
        return len("abc")


def in_thread():
    for _ in range(1000):
        key(1)


def in_child():
    return key(2)


once(1000)
twice(2000)
thrice(3000)
fibonacci(15)
sum(numbers())
sort()
catch()
Größe().method()
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
child = os.fork()
if child == 0:
    in_child()
    os._exit(0)
os.waitpid(child, 0)
