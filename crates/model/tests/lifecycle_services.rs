//! The services of lifecycle nodes: rclcpp adopts those that rcl made, under handles that nothing else tells of.

use std::collections::BTreeSet;

use rostrace_model::entity::CallbackOwner;

#[test]
fn every_callback_of_a_lifecycle_service_knows_its_service() {
    for name in ["jazzy/lifecycle", "jazzy/lifecycle_caret"] {
        let Some(model) = rostrace_testkit::recordings::load(name) else {
            return;
        };
        let mut found = BTreeSet::new();
        for callback in &model.callbacks {
            let symbol = callback.symbol.as_deref().unwrap_or_default();
            if !symbol.contains("LifecycleNodeInterfaceImpl") {
                continue;
            }
            let CallbackOwner::Service(id) = callback.owner else {
                panic!("{name}: {symbol}");
            };
            let service = &model.services[id.index()];
            let (node, last) = service.name.rsplit_once('/').unwrap();
            assert_eq!(model.node_name(service.node), Some(node), "{name}");
            // The type of its request is called like the service, in other letters; that of the graph is shared.
            let request = last.replace('_', "") + "_request_";
            let request = request.replace("gettransitiongraph", "getavailabletransitions");
            assert!(symbol.to_lowercase().contains(&request), "{name}: {last}");
            assert!(found.insert(&service.name), "{name}: {last} twice");
        }
        assert_eq!(found.len(), 10, "{name}: {found:?}");
    }
}
