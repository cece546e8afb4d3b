//! Names of callbacks, callback groups and executors, which have none of their own.
//!
//! Callers give lists in the order of creation, and things are numbered in that order: the same application has the
//! same names in every run. (CARET numbers groups and executors by address, so that two runs can swap them, and
//! counts executors that it then hides.) The form of the names is CARET's.

/// `NODE/callback_0` …: first all timers, then all subscriptions, each in the order of creation. The number is padded
/// with zeros to the digits of the count, so ten callbacks are `callback_00` to `callback_09`.
pub fn callback_names(node: &str, count: usize) -> Vec<String> {
    numbered(&format!("{node}/callback_"), count)
}

/// `NODE/service_callback_0` …, padded likewise, with a counter of their own.
pub fn service_callback_names(node: &str, count: usize) -> Vec<String> {
    numbered(&format!("{node}/service_callback_"), count)
}

/// `NODE/callback_group_0` …, never padded. Groups that hold nothing but services are
/// `NODE/service_only_callback_group_0` … and count for themselves: for each group in the order of creation, the
/// caller says whether it is one.
pub fn callback_group_names(node: &str, only_services: &[bool]) -> Vec<String> {
    let mut counters = [0_usize; 2];
    let name = |&only_services: &bool| {
        let counter = &mut counters[usize::from(only_services)];
        let number = *counter;
        *counter += 1;
        match only_services {
            true => format!("{node}/service_only_callback_group_{number}"),
            false => format!("{node}/callback_group_{number}"),
        }
    };
    only_services.iter().map(name).collect()
}

/// `executor_0` …, padded to the digits of the count. Executors that are not shown are not counted.
pub fn executor_names(count: usize) -> Vec<String> {
    numbered("executor_", count)
}

fn numbered(prefix: &str, count: usize) -> Vec<String> {
    let digits = count.to_string().len();
    let name = |number| format!("{prefix}{number:0digits$}");
    (0..count).map(name).collect()
}

/// For each thing the number of equal ones before it: the construction order of callbacks with one kind and symbol,
/// of publishers or subscriptions of one topic.
pub fn construction_orders<T: std::hash::Hash + Eq>(
    things: impl IntoIterator<Item = T>,
) -> Vec<u32> {
    let mut seen: std::collections::HashMap<T, u32> = std::collections::HashMap::new();
    let order = |thing| {
        let count = seen.entry(thing).or_default();
        let order = *count;
        *count += 1;
        order
    };
    things.into_iter().map(order).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_padded_to_the_digits_of_the_count() {
        assert_eq!(callback_names("/n", 1), ["/n/callback_0"]);
        assert_eq!(callback_names("/n", 9)[8], "/n/callback_8");
        assert_eq!(callback_names("/n", 10)[0], "/n/callback_00");
        assert_eq!(executor_names(100)[7], "executor_007");
        assert!(service_callback_names("/n", 0).is_empty());
    }

    #[test]
    fn groups_of_services_count_for_themselves() {
        assert_eq!(
            callback_group_names("/n", &[false, true, false, true]),
            [
                "/n/callback_group_0",
                "/n/service_only_callback_group_0",
                "/n/callback_group_1",
                "/n/service_only_callback_group_1"
            ]
        );
        assert_eq!(
            callback_group_names("/n", &[false; 12])[11],
            "/n/callback_group_11"
        );
    }

    #[test]
    fn equal_things_are_told_apart_by_their_order() {
        assert_eq!(construction_orders(["a", "b", "a", "a"]), [0, 0, 1, 2]);
    }
}
