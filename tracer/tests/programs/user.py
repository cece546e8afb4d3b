"""What user.c says, from Python."""
import rostrace

rostrace.instant('bare')
rostrace.instant('full', obstacles=-3, speed=2.5, reason='blocked', lanes=4)
rostrace.counter('queue', 7)


@rostrace.span('inner')
def inner():
    raise ValueError


try:
    with rostrace.span('outer', depth=1):
        inner()
except ValueError:
    pass
