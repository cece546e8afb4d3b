"""A stand-in for rclpy, in the shape of Humble or of later versions, and nodes that use it.

usage: python_nodes.py TRACETOOLS humble|jazzy|unknown|left
It ends with an error if the program notices the tracer; left has the shape of jazzy and is not to be touched.
"""
import asyncio
import ctypes
import functools
import inspect
import sys
import types

ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
# As rclpy calls it: what the dynamic linker finds first, with the interpreter's lock held.
tracetools = ctypes.PyDLL(None)
shape = sys.argv[2]


def module(name, **content):
    made = types.ModuleType(name)
    made.__dict__.update(content)
    sys.modules[name] = made
    if '.' in name:
        parent, _, last = name.rpartition('.')
        setattr(sys.modules[parent], last, made)
    return made


class Handle:
    def __init__(self, pointer):
        self.pointer = pointer


class Entity:
    def __init__(self, callback, pointer):
        self.callback = callback
        self.handle = Handle(pointer)


class Subscription(Entity):
    pass


class Service(Entity):
    pass


class Timer(Entity):
    pass


class Node:
    handle = Handle(0x100)

    def create_timer(self, period, callback):
        return Timer(callback, 0x30)


async def await_or_execute(callback, *arguments):
    if inspect.iscoroutinefunction(callback):
        return await callback(*arguments)
    return callback(*arguments)


def execute(entity, *arguments):
    async def run():
        return await sys.modules['rclpy.executors'].await_or_execute(entity.callback, *arguments)

    return run


class Jazzy:
    def _take_timer(self, entity):
        return execute(entity)

    def _take_subscription(self, entity):
        return execute(entity, 'message') if self.has_message else None

    def _take_service(self, entity):
        return execute(entity, 'request')

    def _take_client(self, entity):
        return None

    def _take_guard_condition(self, entity):
        return execute(entity)

    def run(self, take, entity):
        work = take(entity)
        return work and work()


class Humble(Jazzy):
    def _take_timer(self, entity):
        self.arguments = ()

    def _take_subscription(self, entity):
        self.arguments = ('message',)
        return 'message' if self.has_message else None

    def _take_service(self, entity):
        self.arguments = ('request',)
        return 'request'

    def run(self, take, entity):
        if take(entity) is None and not isinstance(entity, Timer):
            return None
        return execute(entity, *self.arguments)()


class Unknown:
    """An executor of a version that does everything otherwise."""


rclpy = module('rclpy')
module('rclpy.executors', Executor={'humble': Humble, 'jazzy': Jazzy, 'unknown': Unknown, 'left': Jazzy}[shape], await_or_execute=await_or_execute)
module('rclpy.node', Node=Node)
module('rclpy.service', Service=Service)
module('rclpy.subscription', Subscription=Subscription)
module('rclpy.timer', Timer=Timer)


def mark(number):
    tracetools.ros_trace_rcl_publisher_init(ctypes.c_void_p(number), None, None, b'/mark', ctypes.c_size_t(1))


class Robot:
    def tick(self):
        mark(1)

    def received(self, message):
        mark(2)
        return message

    def fail(self, request):
        raise ValueError(request)

    async def waits(self, message):
        mark(3)
        self.future = asyncio.get_running_loop().create_future()
        answer = await self.future
        mark(4)
        return answer

    async def does_not_wait(self, message):
        return message


def main():
    before = rclpy.executors.await_or_execute
    tracetools.ros_trace_rcl_init(ctypes.c_void_p(0x99))
    after = rclpy.executors.await_or_execute
    executor, robot = rclpy.executors.Executor(), Robot()
    if shape in ('unknown', 'left'):
        assert '_rostrace_rclpy' not in sys.modules
        assert after is before and Timer.__init__ is Entity.__init__
        return
    executor.has_message = True
    timer = Node().create_timer(1, robot.tick)
    subscription = Subscription(functools.partial(robot.received), 0x10)
    waiting, quick = Subscription(robot.waits, 0x11), Subscription(robot.does_not_wait, 0x12)
    service, guard = Service(robot.fail, 0x20), Entity(lambda: mark(5), 0x40)

    async def spin():
        assert await executor.run(executor._take_timer, timer) is None
        assert await executor.run(executor._take_subscription, subscription) == 'message'
        executor.has_message = False
        assert executor.run(executor._take_subscription, subscription) is None
        executor.has_message = True
        # What was taken before is not what runs now.
        await rclpy.executors.await_or_execute(lambda: mark(6))
        await execute(guard)() if shape == 'humble' else await executor.run(executor._take_guard_condition, guard)
        assert await executor.run(executor._take_subscription, quick) == 'message'
        task = asyncio.ensure_future(executor.run(executor._take_subscription, waiting))
        await asyncio.sleep(0)
        robot.future.set_result(41)
        assert await task == 41
        task = asyncio.ensure_future(executor.run(executor._take_subscription, waiting))
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
            raise AssertionError('the coroutine was not cancelled')
        except asyncio.CancelledError:
            pass
        try:
            await executor.run(executor._take_service, service)
            raise AssertionError('the error of the callback got lost')
        except ValueError as error:
            assert error.args == ('request',)

    asyncio.run(spin())
    assert '_rostrace_rclpy' in sys.modules
    assert not any('rostrace' in name for name in globals())


main()
