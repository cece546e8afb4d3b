//! The table agrees with itself and with what is known of ROS 2's releases.

use std::collections::HashSet;

use rostrace_tracepoints::{
    Distribution, Kind, PROVIDERS, Phase, Presence, TRACEPOINTS, field, find,
};

#[test]
fn every_name_is_declared_once_and_found() {
    let mut seen = HashSet::new();
    for tracepoint in TRACEPOINTS {
        let name = tracepoint.full_name;
        assert!(seen.insert(name), "{name} is declared twice");
        let found = find(name).expect(name);
        assert_eq!((found.full_name, found.kind), (name, tracepoint.kind));
    }
}

#[test]
fn a_full_name_is_provider_and_name() {
    let tracepoint = find("ros2:rcl_init").unwrap();
    assert_eq!((tracepoint.provider, tracepoint.name), ("ros2", "rcl_init"));
    let kernel = find("sched_switch").unwrap();
    assert_eq!((kernel.provider, kernel.name), ("", "sched_switch"));
}

#[test]
fn an_unknown_name_is_not_found() {
    for name in [
        "",
        "ros2:",
        "rcl_init",
        "ros2:rcl_ini",
        "my_app:start",
        "sched:sched_switch",
    ] {
        assert!(find(name).is_none(), "{name}");
    }
}

#[test]
fn a_member_of_a_family_is_found() {
    for (name, kind, member) in [
        ("syscall_entry_futex", Kind::SyscallEntry, "futex"),
        ("compat_syscall_exit_read", Kind::SyscallExit, "read"),
        (
            "lttng_ust_tracelog:TRACE_INFO",
            Kind::UstTracelog,
            "TRACE_INFO",
        ),
    ] {
        let family = find(name).expect(name);
        assert_eq!(family.kind, kind);
        assert!(family.full_name.ends_with('*'));
        assert_eq!(family.member(name), Some(member));
    }
}

#[test]
fn no_two_fields_of_a_kind_share_a_spelling() {
    for kind in Kind::ALL {
        let mut seen = HashSet::new();
        for name in kind.fields().iter().flat_map(|field| field.names()) {
            assert!(seen.insert(name), "{kind:?} has two fields {name}");
        }
    }
}

#[test]
fn the_constants_are_the_places_of_the_fields() {
    let fields = Kind::RclPublish.fields();
    assert_eq!(
        fields[field::rcl_publish::PUBLISHER_HANDLE].name,
        "publisher_handle"
    );
    assert_eq!(fields[field::rcl_publish::MESSAGE].name, "message");
    let fields = Kind::AgnocastCreateCallable.fields();
    assert!(fields[field::agnocast_create_callable::PID_CALLBACK_INFO_ID].is_named("pid_ciid"));
}

#[test]
fn a_kind_is_its_place_among_all() {
    assert_eq!(Kind::COUNT, Kind::ALL.len());
    for (place, kind) in Kind::ALL.iter().enumerate() {
        assert_eq!(kind.index(), place);
        assert!(kind.tracepoints().count() > 0, "{kind:?}");
    }
}

#[test]
fn a_field_of_one_provider_is_not_a_field_of_the_other() {
    let names = |event: &str| -> Vec<&str> {
        let fields = find(event).unwrap().fields;
        assert!(
            fields
                .iter()
                .all(|field| field.presence == Presence::Always)
        );
        fields.iter().map(|field| field.name).collect()
    };
    assert_eq!(names("ros2:rcl_init"), ["context_handle", "version"]);
    assert_eq!(
        names("ros2_caret:rcl_init"),
        ["context_handle", "init_timestamp"]
    );
    assert_eq!(Kind::RclInit.fields().len(), 3);
}

#[test]
fn a_field_is_limited_only_to_a_provider_of_its_kind() {
    for kind in Kind::ALL {
        for field in kind.fields() {
            if let Presence::Provider(only) = field.presence {
                let providers: Vec<_> = kind.tracepoints().map(|event| event.provider).collect();
                assert!(
                    providers.len() > 1,
                    "{kind:?}: {} needs no `only`",
                    field.name
                );
                assert!(providers.contains(&only), "{kind:?}: {}", field.name);
            }
        }
    }
}

#[test]
fn the_providers_of_the_table_are_those_that_are_described() {
    let used: HashSet<_> = TRACEPOINTS.iter().map(|event| event.provider).collect();
    let described: HashSet<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
    assert_eq!(used, described);
}

#[test]
fn what_people_read_is_in_sentences() {
    // Names of software keep their own spelling.
    let is_sentence = |text: &str| {
        let begins_small = text.starts_with(|first: char| first.is_lowercase());
        let names_software = ["rcl", "r2r", "rostrace", "tracetools"]
            .iter()
            .any(|name| text.starts_with(name));
        text.ends_with(['.', '…']) && !text.contains('|') && (!begins_small || names_software)
    };
    for provider in PROVIDERS {
        assert!(is_sentence(provider.summary), "{}", provider.summary);
    }
    for tracepoint in TRACEPOINTS {
        assert!(is_sentence(tracepoint.summary), "{tracepoint}");
        for field in tracepoint.fields {
            assert!(
                is_sentence(field.meaning),
                "{tracepoint}: {}",
                field.meaning
            );
        }
    }
}

/// The distribution that has the event first; none for events of forks and other tools.
fn since(text: &str) -> Option<Distribution> {
    text.split(';').next()?.parse().ok()
}

#[test]
fn every_distribution_has_as_many_events_as_it_defines() {
    for (distribution, expected) in [
        (Distribution::Foxy, 14),
        (Distribution::Galactic, 19),
        (Distribution::Humble, 28),
        (Distribution::Iron, 35),
        (Distribution::Jazzy, 35),
        (Distribution::Kilted, 40),
        (Distribution::Lyrical, 42),
        (Distribution::Rolling, 42),
    ] {
        let count = TRACEPOINTS
            .iter()
            .filter(|event| event.provider == "ros2")
            .filter(|event| since(event.since).is_some_and(|first| first <= distribution))
            .count();
        assert_eq!(count, expected, "{distribution}");
    }
}

#[test]
fn initialisation_is_what_ros_2_and_caret_call_so() {
    // The events that a dual session of `ros2 trace` records from the start, and the annotations.
    let of_ros2 = "rcl_init rcl_node_init rmw_publisher_init rcl_publisher_init rmw_subscription_init \
        rcl_subscription_init rclcpp_subscription_init rclcpp_subscription_callback_added rcl_service_init \
        rclcpp_service_callback_added rmw_client_init rcl_client_init rcl_timer_init rclcpp_timer_callback_added \
        rclcpp_timer_link_node rclcpp_callback_register rcl_lifecycle_state_machine_init rclcpp_ipb_to_subscription \
        rclcpp_buffer_to_ipb rclcpp_construct_ring_buffer message_link_periodic_async message_link_partial_sync";
    // All others of CARET describe entities.
    let run_of_caret = "dds_write dds_bind_addr_to_stamp dds_bind_addr_to_addr on_data_available sim_time \
        tilde_subscribe tilde_publish";
    let names = |provider: &str, phase: Phase| -> HashSet<&str> {
        TRACEPOINTS
            .iter()
            .filter(|event| event.provider == provider && event.phase == phase)
            .map(|event| event.name)
            .collect()
    };
    assert_eq!(
        names("ros2", Phase::Init),
        of_ros2.split_whitespace().collect()
    );
    assert_eq!(
        names("ros2_caret", Phase::Run),
        run_of_caret.split_whitespace().collect()
    );
}
