//! The small systems that many tests begin with. Their handles are always the same, so that a test can go on from there.

use super::recording::Recording;
use super::ros::Flavour;

impl Recording {
    /// Process 100 with the node `/n` (0x10) and its publisher 0x20 of `/a`.
    pub fn talker(flavour: Flavour) -> Recording {
        let mut recording = Recording::new(flavour, "robot");
        recording
            .process(100, "app")
            .context(0x1)
            .node(0x10, "/n")
            .publisher(0x20, 0x10, "/a");
        recording
    }

    /// A talker that is its own listener: subscription 0x30 with callbacks 0x40 and, inside of the process, 0x41 behind the ring
    /// buffer 0x33 of two slots.
    pub fn talker_to_itself(flavour: Flavour) -> Recording {
        let mut recording = Recording::talker(flavour);
        recording.intra_subscription(0x30, 0x10, "/a", 0x40, 2);
        recording
    }

    /// A talker in process 100 (publisher 0x20 of `/a`) and a listener in process 200 (subscription 0x30, callback 0x40).
    pub fn talker_and_listener(flavour: Flavour) -> Recording {
        let mut recording = Recording::new(flavour, "robot");
        recording
            .process(200, "listener")
            .context(0x1)
            .node(0x10, "/l");
        recording.subscription(0x30, 0x10, "/a", 0x40);
        recording
            .process(100, "talker")
            .context(0x1)
            .node(0x10, "/t")
            .publisher(0x20, 0x10, "/a");
        recording
    }

    /// A client (0x70, gid 7) in process 100, a service (0x80, callback 0x81) of `/ask` in process 200.
    pub fn client_and_service(flavour: Flavour) -> Recording {
        let mut recording = Recording::new(flavour, "robot");
        recording
            .process(100, "client")
            .context(0x1)
            .node(0x10, "/c");
        recording.client(0x70, 0x10, "/ask", 7);
        recording
            .process(200, "server")
            .context(0x1)
            .node(0x10, "/s");
        recording.service(0x80, 0x10, "/ask", 0x81).at(5_000_000);
        recording
    }

    /// The recording goes on for long enough that whatever is on its way would have been taken.
    pub fn go_on(&mut self) -> &mut Recording {
        self.wait(1_000_000_000)
            .process(900, "bystander")
            .get_next_ready()
    }
}
