"""Tells the tracer of the callbacks of rclpy, which has no tracepoints of its own.

The tracer runs this inside a process that uses rclpy, when its first context is made; the dictionary FUNCTIONS with the addresses of
the tracer's functions comes before it. Callbacks are left as they are: executors take something and run its callback on one thread,
right after each other, in every version, so it is enough to look on at both.
"""

import ctypes
import functools
import inspect
import threading
import weakref

import rclpy.executors
import rclpy.node
import rclpy.service
import rclpy.subscription
import rclpy.timer


def function(name, *kinds):
    # Keeps the interpreter's lock: the tracer never waits, and other threads of Python should not run because of it.
    return ctypes.PYFUNCTYPE(None, *kinds)(FUNCTIONS[name])  # noqa: F821


address = ctypes.c_void_p
callback_start = function('callback_start', address, ctypes.c_bool)
callback_end = function('callback_end', address)
callback_register = function('rclcpp_callback_register', address, ctypes.c_char_p)
subscription_init = function('rclcpp_subscription_init', address, address)
subscription_callback_added = function('rclcpp_subscription_callback_added', address, address)
service_callback_added = function('rclcpp_service_callback_added', address, address)
timer_callback_added = function('rclcpp_timer_callback_added', address, address)
timer_link_node = function('rclcpp_timer_link_node', address, address)

# What was taken last on a thread, until its callback begins.
taken = threading.local()


def symbol_of(callback):
    """Name of a callback as its author would say it: `module.Class.method`."""
    while isinstance(callback, functools.partial):
        callback = callback.func
    if not hasattr(callback, '__qualname__'):
        callback = type(callback)
    name = callback.__qualname__
    module = getattr(callback, '__module__', None)
    return (f'{module}.{name}' if module else name).encode(errors='replace')


def announce(kind, entity):
    """Tells which callback an entity has. The address of the entity stands for that of its callback."""
    # Executors make a timer without a callback whenever they wait for a limited time.
    if entity.callback is None:
        return
    handle, callback = entity.handle.pointer, id(entity)
    if kind == 'subscription':
        subscription_init(handle, callback)
        subscription_callback_added(callback, callback)
    elif kind == 'service':
        service_callback_added(handle, callback)
    else:
        timer_callback_added(handle, callback)
    callback_register(callback, symbol_of(entity.callback))
    entity._rostrace_is_announced = True


def quietly(work, *arguments):
    """A recording with a gap is better than an application with an error."""
    try:
        work(*arguments)
    except Exception:
        pass


def announcing(kind, original):
    @functools.wraps(original)
    def __init__(self, *arguments, **named):
        original(self, *arguments, **named)
        quietly(announce, kind, self)

    return __init__


def linking(original):
    @functools.wraps(original)
    def create_timer(self, *arguments, **named):
        timer = original(self, *arguments, **named)
        quietly(lambda: timer_link_node(timer.handle.pointer, self.handle.pointer))
        return timer

    return create_timer


def noting(kind, original):
    @functools.wraps(original)
    def take(self, entity):
        taken.entity = None
        result = original(self, entity)
        if kind is not None:
            # Not to keep it alive when there turns out to be nothing to run.
            taken.entity = weakref.ref(entity)
            if not getattr(entity, '_rostrace_is_announced', False):
                quietly(announce, kind, entity)
        return result

    return take


def is_callback_of(callback, entity):
    if entity is None:
        return False
    own = entity.callback
    # A timer's callback may get what it asks for as an argument.
    return callback is own or isinstance(callback, functools.partial) and callback.func is own


class FirstStretch:
    """A coroutine, of which the part until it first waits for something is reported as its callback.

    Afterwards other callbacks run on the thread, and it may go on on another one: nothing says what it is then.
    """

    def __init__(self, coroutine, callback):
        self.coroutine = coroutine
        self.callback = callback

    def __await__(self):
        steps = self.coroutine.__await__()
        callback_start(self.callback, False)
        try:
            awaited = next(steps)
        except StopIteration as end:
            return end.value
        finally:
            callback_end(self.callback)
        while True:
            try:
                try:
                    sent = yield awaited
                except GeneratorExit:
                    steps.close()
                    raise
                except BaseException as error:
                    awaited = steps.throw(error)
                else:
                    awaited = steps.send(sent)
            except StopIteration as end:
                return end.value


def timing(original):
    @functools.wraps(original)
    async def await_or_execute(callback, *arguments):
        entity = getattr(taken, 'entity', None)
        entity = entity and entity()
        taken.entity = None
        if not is_callback_of(callback, entity):
            return await original(callback, *arguments)
        if inspect.iscoroutinefunction(callback):
            return await FirstStretch(original(callback, *arguments), id(entity))
        callback_start(id(entity), False)
        try:
            return await original(callback, *arguments)
        finally:
            callback_end(id(entity))

    return await_or_execute


def install():
    executor = rclpy.executors.Executor
    kinds = {'timer': 'timer', 'subscription': 'subscription', 'service': 'service', 'client': None, 'guard_condition': None}
    # Everything is looked up before anything is changed: with a version that we do not know nothing is.
    changes = [
        (executor, f'_take_{name}', noting(kind, getattr(executor, f'_take_{name}')))
        for name, kind in kinds.items()
    ]
    changes.append((rclpy.executors, 'await_or_execute', timing(rclpy.executors.await_or_execute)))
    changes.append((rclpy.node.Node, 'create_timer', linking(rclpy.node.Node.create_timer)))
    for kind, made in (
        ('subscription', rclpy.subscription.Subscription),
        ('service', rclpy.service.Service),
        ('timer', rclpy.timer.Timer),
    ):
        changes.append((made, '__init__', announcing(kind, made.__init__)))
    for holder, name, change in changes:
        setattr(holder, name, change)


install()
