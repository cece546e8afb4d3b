//! The processes of the demo: which nodes they have, and what those do.

use std::ffi::CString;
use std::time::Duration;

use super::ProcessArguments;
use super::executor::{Executor, Publisher, spin_for};
use crate::outcome::Outcome;

/// In the order in which they are started: receivers first.
pub(super) const ROLES: [&str; 5] = ["actuator", "planner", "fusion", "filter", "sensors"];

/// Every so many messages the filter has a bad one.
const BAD: u64 = 40;

const LIDAR_PERIOD: Duration = Duration::from_millis(50);
const IMU_PERIOD: Duration = Duration::from_millis(20);
const REPORT_PERIOD: Duration = Duration::from_millis(500);

/// All that is sent, so that a sender knows who receives: topic and receiving node.
const SUBSCRIPTIONS: [(&str, &str); 6] = [
    ("/points", "filter"),
    ("/imu", "filter"),
    ("/imu", "fusion"),
    ("/points_filtered", "fusion"),
    ("/state", "planner"),
    ("/command", "actuator"),
];

pub(crate) fn process(arguments: &ProcessArguments) -> anyhow::Result<Outcome> {
    name_after(&arguments.role);
    let mut executor = Executor::new(&arguments.folder);
    let seconds = Duration::from_secs_f64(arguments.seconds.clamp(0.1, 3600.0));
    let drain = Duration::from_millis(200);
    match arguments.role.as_str() {
        "sensors" => {
            sensors(&mut executor)?;
            executor.wait_for(&SUBSCRIPTIONS, Duration::from_secs(2));
            executor.spin(seconds);
        }
        "filter" => {
            filter(&mut executor)?;
            executor.spin(seconds + drain);
        }
        "fusion" => {
            fusion(&mut executor)?;
            executor.spin(seconds + drain);
        }
        "planner" => {
            planner(&mut executor)?;
            executor.spin(seconds + drain);
        }
        "actuator" => {
            actuator(&mut executor)?;
            executor.spin(seconds + drain);
        }
        other => anyhow::bail!("the demo has no process `{other}`"),
    }
    Ok(Outcome::Fine)
}

/// What the trace and `ps` show.
fn name_after(role: &str) {
    if let Ok(name) = CString::new(format!("demo_{role}")) {
        // SAFETY: the name ends with a zero and is copied.
        unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    }
}

fn publisher(
    executor: &mut Executor,
    node: usize,
    topic: &'static str,
) -> anyhow::Result<Publisher> {
    let receivers = SUBSCRIPTIONS.iter().filter(|(name, _)| *name == topic);
    let receivers: Vec<&str> = receivers.map(|(_, node)| *node).collect();
    executor.publisher(node, topic, &receivers)
}

fn sensors(executor: &mut Executor) -> anyhow::Result<()> {
    let lidar = executor.node(c"lidar");
    let imu = executor.node(c"imu");
    let mut points = publisher(executor, lidar, "/points")?;
    let mut motion = publisher(executor, imu, "/imu")?;
    executor.timer(lidar, LIDAR_PERIOD, c"demo::Lidar::scan()", move || {
        spin_for(Duration::from_micros(600));
        points.publish();
    });
    executor.timer(imu, IMU_PERIOD, c"demo::Imu::measure()", move || {
        spin_for(Duration::from_micros(30));
        motion.publish();
    });
    Ok(())
}

/// Its queue for the inertial sensor is short: while it is slow, a message falls out.
fn filter(executor: &mut Executor) -> anyhow::Result<()> {
    let node = executor.node(c"filter");
    let mut filtered = publisher(executor, node, "/points_filtered")?;
    let mut count = 0_u64;
    executor.subscription(
        node,
        "/points",
        "filter",
        10,
        c"demo::Filter::on_points(Points)",
        move || {
            count += 1;
            spin_for(match count % BAD {
                // Not among the first ones, so that a short demo has one too.
                20 => Duration::from_millis(85),
                _ => Duration::from_micros(3_000 + count * 7 % 500),
            });
            filtered.publish();
        },
    )?;
    executor.subscription(
        node,
        "/imu",
        "filter",
        2,
        c"demo::Filter::on_imu(Imu)",
        || {
            spin_for(Duration::from_micros(20));
        },
    )
}

fn fusion(executor: &mut Executor) -> anyhow::Result<()> {
    let node = executor.node(c"fusion");
    let mut state = publisher(executor, node, "/state")?;
    executor.subscription(
        node,
        "/imu",
        "fusion",
        10,
        c"demo::Fusion::on_imu(Imu)",
        || {
            spin_for(Duration::from_micros(40));
        },
    )?;
    executor.subscription(
        node,
        "/points_filtered",
        "fusion",
        10,
        c"demo::Fusion::on_points(Points)",
        move || {
            spin_for(Duration::from_millis(2));
            state.publish();
        },
    )
}

fn planner(executor: &mut Executor) -> anyhow::Result<()> {
    let node = executor.node(c"planner");
    let mut command = publisher(executor, node, "/command")?;
    executor.timer(node, REPORT_PERIOD, c"demo::Planner::report()", || {
        spin_for(Duration::from_micros(200));
    });
    executor.subscription(
        node,
        "/state",
        "planner",
        10,
        c"demo::Planner::on_state(State)",
        move || {
            spin_for(Duration::from_millis(4));
            command.publish();
        },
    )
}

fn actuator(executor: &mut Executor) -> anyhow::Result<()> {
    let node = executor.node(c"actuator");
    executor.subscription(
        node,
        "/command",
        "actuator",
        10,
        c"demo::Actuator::on_command(Command)",
        || spin_for(Duration::from_micros(100)),
    )
}
