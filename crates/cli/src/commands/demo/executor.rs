//! As much of a client library as the demo needs: nodes, publishers, subscriptions and timers, one thread that executes them, and
//! datagrams between processes. It tells the tracer what rclcpp, rcl and rmw would.

use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_void};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use rostrace_tracer::ros;

/// Bytes of a message: its source timestamp, and what a small message has else.
const MESSAGE: usize = 64;

type Work = Box<dyn FnMut()>;

pub(super) struct Executor {
    folder: PathBuf,
    nodes: Vec<Handle>,
    timers: Vec<Timer>,
    subscriptions: Vec<Subscription>,
}

/// Something that only has an address.
type Handle = Box<u64>;

struct Timer {
    handle: Handle,
    callback: Handle,
    period: Duration,
    due: Instant,
    work: Work,
}

struct Subscription {
    handle: Handle,
    rmw_handle: Handle,
    callback: Handle,
    socket: UnixDatagram,
    /// Source timestamps of messages that were received and not taken.
    queue: VecDeque<i64>,
    depth: usize,
    work: Work,
    /// Where messages are put when they are taken.
    message: Box<[u8; MESSAGE]>,
}

pub(super) struct Publisher {
    handle: Handle,
    rmw_handle: Handle,
    socket: UnixDatagram,
    receivers: Vec<PathBuf>,
    message: Box<[u8; MESSAGE]>,
}

fn address<T>(thing: &T) -> *const c_void {
    std::ptr::from_ref(thing).cast()
}

/// Where a node receives a topic.
fn socket_path(folder: &Path, topic: &str, node: &str) -> PathBuf {
    folder.join(format!("{}-{node}", topic.trim_start_matches('/')))
}

/// Works as hard as a computation would.
pub(super) fn spin_for(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(0))
}

impl Executor {
    pub(super) fn new(folder: &Path) -> Executor {
        let context = Box::leak(Box::new(0_u64));
        ros::rcl_init(address(context));
        Executor {
            folder: folder.to_owned(),
            nodes: Vec::new(),
            timers: Vec::new(),
            subscriptions: Vec::new(),
        }
    }

    /// Returns its number.
    pub(super) fn node(&mut self, name: &CStr) -> usize {
        let node = Box::new(0);
        ros::rcl_node_init(address(&*node), address(&self.nodes), name, c"/");
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    pub(super) fn publisher(
        &mut self,
        node: usize,
        topic: &'static str,
        receivers: &[&str],
    ) -> anyhow::Result<Publisher> {
        let (handle, rmw_handle): (Handle, Handle) = (Box::new(0), Box::new(0));
        ros::rmw_publisher_init(address(&*rmw_handle), &gid(address(&*rmw_handle)));
        ros::rcl_publisher_init(
            address(&*handle),
            address(&*self.nodes[node]),
            address(&*rmw_handle),
            &CString::new(topic)?,
            10,
        );
        let socket = UnixDatagram::unbound()?;
        // A receiver that is slow for long does not stop its sender.
        socket.set_nonblocking(true)?;
        let receivers = receivers.iter();
        Ok(Publisher {
            handle,
            rmw_handle,
            socket,
            receivers: receivers
                .map(|node| socket_path(&self.folder, topic, node))
                .collect(),
            message: Box::new([0; MESSAGE]),
        })
    }

    pub(super) fn subscription(
        &mut self,
        node: usize,
        topic: &str,
        receiver: &str,
        depth: usize,
        symbol: &CStr,
        work: impl FnMut() + 'static,
    ) -> anyhow::Result<()> {
        let (handle, rmw_handle, callback): (Handle, Handle, Handle) =
            (Box::new(0), Box::new(0), Box::new(0));
        let object: &'static u64 = Box::leak(Box::new(0));
        let path = socket_path(&self.folder, topic, receiver);
        let socket = UnixDatagram::bind(&path)
            .with_context(|| format!("the socket {} could not be made", path.display()))?;
        socket.set_nonblocking(true)?;
        ros::rmw_subscription_init(address(&*rmw_handle), &gid(address(&*rmw_handle)));
        ros::rcl_subscription_init(
            address(&*handle),
            address(&*self.nodes[node]),
            address(&*rmw_handle),
            &CString::new(topic)?,
            depth as u64,
        );
        ros::rclcpp_subscription_init(address(&*handle), address(object));
        ros::rclcpp_subscription_callback_added(address(object), address(&*callback));
        ros::rclcpp_callback_register(address(&*callback), symbol);
        self.subscriptions.push(Subscription {
            handle,
            rmw_handle,
            callback,
            socket,
            queue: VecDeque::new(),
            depth,
            work: Box::new(work),
            message: Box::new([0; MESSAGE]),
        });
        Ok(())
    }

    pub(super) fn timer(
        &mut self,
        node: usize,
        period: Duration,
        symbol: &CStr,
        work: impl FnMut() + 'static,
    ) {
        let (handle, callback): (Handle, Handle) = (Box::new(0), Box::new(0));
        let nanos = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX);
        ros::rcl_timer_init(address(&*handle), nanos);
        ros::rclcpp_timer_callback_added(address(&*handle), address(&*callback));
        ros::rclcpp_callback_register(address(&*callback), symbol);
        ros::rclcpp_timer_link_node(address(&*handle), address(&*self.nodes[node]));
        self.timers.push(Timer {
            handle,
            callback,
            period,
            due: Instant::now() + period,
            work: Box::new(work),
        });
    }

    /// Until all of these receive; not for ever.
    pub(super) fn wait_for(&mut self, subscriptions: &[(&str, &str)], patience: Duration) {
        let begin = Instant::now();
        let is_missing =
            |(topic, node): &(&str, &str)| !socket_path(&self.folder, topic, node).exists();
        while subscriptions.iter().any(is_missing) && begin.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
        for timer in &mut self.timers {
            // The first firing is a period after the timer was made, and that was the moment that the trace has.
            while timer.due < Instant::now() {
                timer.due += timer.period;
            }
        }
    }

    /// Waits for work and does it: timers first, then one message of each subscription, as rclcpp does.
    pub(super) fn spin(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            let next = self.timers.iter().map(|timer| timer.due).min();
            let until = next.map_or(end, |due| due.min(end));
            self.wait(until.saturating_duration_since(Instant::now()));
            for timer in &mut self.timers {
                timer.execute_if_due();
            }
            for subscription in &mut self.subscriptions {
                subscription.execute_if_ready();
            }
        }
    }

    fn wait(&mut self, time: Duration) {
        let nanos = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        ros::rclcpp_executor_wait_for_work(nanos);
        let is_ready = self.subscriptions.iter().any(|it| !it.queue.is_empty());
        if !is_ready {
            let mut sockets: Vec<libc::pollfd> = self
                .subscriptions
                .iter()
                .map(|it| libc::pollfd {
                    fd: it.socket.as_raw_fd(),
                    events: libc::POLLIN,
                    revents: 0,
                })
                .collect();
            let timeout = libc::timespec {
                tv_sec: i64::try_from(time.as_secs()).unwrap_or(0),
                tv_nsec: i64::from(time.subsec_nanos()),
            };
            // SAFETY: the list is as long as is said, and the other pointers live during the call or are null.
            unsafe {
                libc::ppoll(
                    sockets.as_mut_ptr(),
                    sockets.len() as libc::nfds_t,
                    &timeout,
                    std::ptr::null(),
                )
            };
        }
        for subscription in &mut self.subscriptions {
            subscription.receive();
        }
    }
}

impl Timer {
    fn execute_if_due(&mut self) {
        let now = Instant::now();
        if now < self.due {
            return;
        }
        // As rcl does: firings that were missed are skipped, the phase stays.
        while self.due <= now {
            self.due += self.period;
        }
        ros::rclcpp_executor_get_next_ready();
        ros::rclcpp_executor_execute(address(&*self.handle));
        ros::callback_start(address(&*self.callback), false);
        (self.work)();
        ros::callback_end(address(&*self.callback));
    }
}

impl Subscription {
    /// Takes what came off the socket. The oldest falls out of a full queue, as with keep last.
    fn receive(&mut self) {
        let mut bytes = [0; MESSAGE];
        loop {
            match self.socket.recv(&mut bytes) {
                Ok(MESSAGE) => {
                    let mut stamp = [0; 8];
                    stamp.copy_from_slice(&bytes[..8]);
                    if self.queue.len() == self.depth {
                        self.queue.pop_front();
                    }
                    self.queue.push_back(i64::from_le_bytes(stamp));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    fn execute_if_ready(&mut self) {
        let Some(stamp) = self.queue.pop_front() else {
            return;
        };
        ros::rclcpp_executor_get_next_ready();
        ros::rclcpp_executor_execute(address(&*self.handle));
        let message = address(&*self.message);
        ros::rmw_take(address(&*self.rmw_handle), message, stamp, true);
        ros::rcl_take(message);
        ros::rclcpp_take(message);
        ros::callback_start(address(&*self.callback), false);
        (self.work)();
        ros::callback_end(address(&*self.callback));
    }
}

impl Publisher {
    pub(super) fn publish(&mut self) {
        let stamp = now();
        self.message[..8].copy_from_slice(&stamp.to_le_bytes());
        let message = address(&*self.message);
        ros::rclcpp_publish(message);
        ros::rcl_publish(address(&*self.handle), message);
        ros::rmw_publish(address(&*self.rmw_handle), message, stamp);
        for receiver in &self.receivers {
            // A receiver that has gone, or whose socket is full, gets nothing.
            let _ = self.socket.send_to(&self.message[..], receiver);
        }
    }
}

/// Different for all endpoints of all processes.
fn gid(address: *const c_void) -> [u8; 24] {
    let mut gid = [0; 24];
    gid[..4].copy_from_slice(&std::process::id().to_le_bytes());
    gid[8..16].copy_from_slice(&(address as u64).to_le_bytes());
    gid
}
