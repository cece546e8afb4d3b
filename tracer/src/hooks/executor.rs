//! Executors, callback groups, and what is in them: rclcpp has no tracepoints for these. The events are CARET's.
//!
//! No private member is read. An executor's collector of entities (from Jazzy on) is the one that is constructed on the same
//! thread while the executor is; that of a static executor (before Jazzy) is the one that gets a group while the executor does. The
//! originals may throw exceptions of C++, which must pass through.

use std::ffi::{CStr, c_void};

use super::shared_pointer::SharedPointer;
use super::{Hook, records};
use crate::emit::{self, Text};
use crate::{clock, events, thread};

const RCLCPP: &[&str] = &["librclcpp.so"];

type Construct2 = unsafe extern "C-unwind" fn(*mut c_void, *const c_void);
type Construct5 = unsafe extern "C-unwind" fn(*mut c_void, *const c_void, usize, bool, i64);
type ConstructEvents = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, bool, *const c_void);
type AddNode = unsafe extern "C-unwind" fn(*mut c_void, *mut SharedPointer, bool);
type AddGroup =
    unsafe extern "C-unwind" fn(*mut c_void, *mut SharedPointer, *mut SharedPointer, bool);
type AddToMap = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut SharedPointer,
    *mut SharedPointer,
    *mut c_void,
    bool,
);
type AddStatic = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut SharedPointer,
    *mut SharedPointer,
    *mut c_void,
) -> bool;
type AddToCollection = unsafe extern "C-unwind" fn(*mut c_void, *mut SharedPointer, *mut c_void);
type AddMember = unsafe extern "C-unwind" fn(*mut c_void, *mut SharedPointer);
type GroupType = unsafe extern "C-unwind" fn(*const c_void) -> *const i32;

macro_rules! hooks {
    ($($hook:ident = $symbol:literal;)+) => {
        $( static $hook: Hook = Hook::new(
            match CStr::from_bytes_with_nul(concat!($symbol, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a symbol has no zero inside"),
            },
            RCLCPP,
        ); )+
        pub(super) static HOOKS: [&Hook; hooks!(@count $($hook)+)] = [$(&$hook),+];
    };
    (@count) => { 0 };
    (@count $first:ident $($rest:ident)*) => { 1 + hooks!(@count $($rest)*) };
}

hooks! {
    SINGLE = "_ZN6rclcpp9executors22SingleThreadedExecutorC1ERKNS_15ExecutorOptionsE";
    STATIC = "_ZN6rclcpp9executors28StaticSingleThreadedExecutorC1ERKNS_15ExecutorOptionsE";
    EVENTS = "_ZN6rclcpp12experimental9executors14EventsExecutorC1ESt10unique_ptrINS1_11EventsQueueESt14default_deleteIS4_EEbRKNS_15ExecutorOptionsE";
    STATIC_ADD_NODE = "_ZN6rclcpp9executors28StaticSingleThreadedExecutor8add_nodeESt10shared_ptrINS_15node_interfaces17NodeBaseInterfaceEEb";
    STATIC_ADD_GROUP = "_ZN6rclcpp9executors28StaticSingleThreadedExecutor18add_callback_groupESt10shared_ptrINS_13CallbackGroupEES2_INS_15node_interfaces17NodeBaseInterfaceEEb";
    MULTI = "_ZN6rclcpp9executors21MultiThreadedExecutorC1ERKNS_15ExecutorOptionsEmbNSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE";
    BASE = "_ZN6rclcpp8ExecutorC2ERKNS_15ExecutorOptionsE";
    COLLECTOR = "_ZN6rclcpp9executors25ExecutorEntitiesCollectorC1ESt10shared_ptrINS0_22ExecutorNotifyWaitableEE";
    ADD_TO_MAP = "_ZN6rclcpp8Executor25add_callback_group_to_mapESt10shared_ptrINS_13CallbackGroupEES1_INS_15node_interfaces17NodeBaseInterfaceEERSt3mapISt8weak_ptrIS2_ES8_IS5_ESt10owner_lessIS9_ESaISt4pairIKS9_SA_EEEb";
    ADD_STATIC = "_ZN6rclcpp9executors31StaticExecutorEntitiesCollector18add_callback_groupESt10shared_ptrINS_13CallbackGroupEES2_INS_15node_interfaces17NodeBaseInterfaceEERSt3mapISt8weak_ptrIS3_ES9_IS6_ESt10owner_lessISA_ESaISt4pairIKSA_SB_EEE";
    ADD_TO_COLLECTION = "_ZN6rclcpp9executors25ExecutorEntitiesCollector32add_callback_group_to_collectionESt10shared_ptrINS_13CallbackGroupEERSt3setISt8weak_ptrIS3_ESt10owner_lessIS7_ESaIS7_EE";
    ADD_TIMER = "_ZN6rclcpp13CallbackGroup9add_timerESt10shared_ptrINS_9TimerBaseEE";
    ADD_SUBSCRIPTION = "_ZN6rclcpp13CallbackGroup16add_subscriptionESt10shared_ptrINS_16SubscriptionBaseEE";
    ADD_SERVICE = "_ZN6rclcpp13CallbackGroup11add_serviceESt10shared_ptrINS_11ServiceBaseEE";
    ADD_CLIENT = "_ZN6rclcpp13CallbackGroup10add_clientESt10shared_ptrINS_10ClientBaseEE";
}

/// Not interposed, only called.
static GROUP_TYPE: Hook = Hook::new(c"_ZNK6rclcpp13CallbackGroup4typeEv", RCLCPP);
static TIMER_HANDLE: Hook = Hook::new(c"_ZN6rclcpp9TimerBase16get_timer_handleEv", RCLCPP);
static SUBSCRIPTION_HANDLE: Hook = Hook::new(
    c"_ZN6rclcpp16SubscriptionBase23get_subscription_handleEv",
    RCLCPP,
);
static SERVICE_HANDLE: Hook = Hook::new(c"_ZN6rclcpp11ServiceBase18get_service_handleEv", RCLCPP);
static CLIENT_HANDLE: Hook = Hook::new(c"_ZN6rclcpp10ClientBase17get_client_handleEv", RCLCPP);

/// The executor that this thread has to do with, until this is dropped, also by an exception.
struct Busy {
    before: u64,
}

impl Busy {
    fn with(executor: *const c_void) -> Busy {
        Busy {
            before: thread::set_executor(executor as u64),
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        thread::set_executor(self.before);
    }
}

/// Two addresses and when.
fn pair(event: u16, first: *const c_void, second: *const c_void) {
    if records(event) {
        let now = clock::monotonic() as i64;
        // SAFETY: the payload has the size that is said.
        emit::initialisation(event, 24, |payload| unsafe {
            payload.pointer(first).pointer(second).signed(now);
        });
    }
}

fn constructed(executor: *const c_void, kind: &[u8]) {
    let event = events::CARET_CONSTRUCT_EXECUTOR;
    if records(event) {
        let (kind, now) = (Text::from_bytes(kind), clock::monotonic() as i64);
        // SAFETY: the payload has the size that is said.
        emit::initialisation(event, 16 + kind.size(), |payload| unsafe {
            payload.pointer(executor).text(kind).signed(now);
        });
    }
}

/// Says which static executor a collector belongs to, if this thread adds something to one.
fn tie_static(collector: *const c_void) {
    let executor = thread::set_executor(0);
    thread::set_executor(executor);
    let event = events::CARET_CONSTRUCT_STATIC_EXECUTOR;
    if executor != 0 && records(event) {
        let kind = Text::from_bytes(b"static_single_threaded_executor");
        let now = clock::monotonic() as i64;
        // SAFETY: the payload has the size that is said.
        emit::initialisation(event, 24 + kind.size(), |payload| unsafe {
            let payload = payload.pointer(executor as *const c_void);
            payload.pointer(collector).text(kind).signed(now);
        });
    }
}

/// # Safety
/// The pointer is null or a callback group.
unsafe fn grouped(event: u16, owner: *const c_void, group: *const c_void) {
    if group.is_null() || !records(event) {
        return;
    }
    // SAFETY: the accessor of rclcpp returns a reference into the group.
    let kind = GROUP_TYPE.original().map(|accessor| unsafe {
        *std::mem::transmute::<*const c_void, GroupType>(accessor)(group)
    });
    let name: &[u8] = match kind {
        Some(0) => b"mutually_exclusive",
        Some(1) => b"reentrant",
        _ => b"unknown",
    };
    let (name, now) = (Text::from_bytes(name), clock::monotonic() as i64);
    // SAFETY: the payload has the size that is said.
    emit::initialisation(event, 24 + name.size(), |payload| unsafe {
        payload.pointer(owner).pointer(group).text(name).signed(now);
    });
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp9executors22SingleThreadedExecutorC1ERKNS_15ExecutorOptionsE")]
unsafe extern "C-unwind" fn construct_single(this: *mut c_void, options: *const c_void) {
    if let Some(original) = SINGLE.original() {
        // SAFETY: the original, with the same arguments.
        unsafe { std::mem::transmute::<*const c_void, Construct2>(original)(this, options) };
    }
    constructed(this, b"single_threaded_executor");
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp9executors28StaticSingleThreadedExecutorC1ERKNS_15ExecutorOptionsE")]
unsafe extern "C-unwind" fn construct_static(this: *mut c_void, options: *const c_void) {
    if let Some(original) = STATIC.original() {
        // SAFETY: the original, with the same arguments.
        unsafe { std::mem::transmute::<*const c_void, Construct2>(original)(this, options) };
    }
    constructed(this, b"static_single_threaded_executor");
}

/// Has a collector of its own beside that of its base, and uses that one.
///
/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp12experimental9executors14EventsExecutorC1ESt10unique_ptrINS1_11EventsQueueESt14default_deleteIS4_EEbRKNS_15ExecutorOptionsE")]
unsafe extern "C-unwind" fn construct_events(
    this: *mut c_void,
    queue: *mut c_void,
    separate: bool,
    options: *const c_void,
) {
    let busy = Busy::with(this);
    if let Some(original) = EVENTS.original() {
        // SAFETY: the original, with the same arguments.
        let original = unsafe { std::mem::transmute::<*const c_void, ConstructEvents>(original) };
        // SAFETY: as above.
        unsafe { original(this, queue, separate, options) };
    }
    drop(busy);
    constructed(this, b"events_executor");
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp9executors28StaticSingleThreadedExecutor8add_nodeESt10shared_ptrINS_15node_interfaces17NodeBaseInterfaceEEb")]
unsafe extern "C-unwind" fn static_add_node(
    this: *mut c_void,
    node: *mut SharedPointer,
    notify: bool,
) {
    let _busy = Busy::with(this);
    if let Some(original) = STATIC_ADD_NODE.original() {
        // SAFETY: the original, with the same arguments.
        unsafe { std::mem::transmute::<*const c_void, AddNode>(original)(this, node, notify) };
    }
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp9executors28StaticSingleThreadedExecutor18add_callback_groupESt10shared_ptrINS_13CallbackGroupEES2_INS_15node_interfaces17NodeBaseInterfaceEEb")]
unsafe extern "C-unwind" fn static_add_group(
    this: *mut c_void,
    group: *mut SharedPointer,
    node: *mut SharedPointer,
    notify: bool,
) {
    let _busy = Busy::with(this);
    if let Some(original) = STATIC_ADD_GROUP.original() {
        // SAFETY: the original, with the same arguments.
        let original = unsafe { std::mem::transmute::<*const c_void, AddGroup>(original) };
        // SAFETY: as above.
        unsafe { original(this, group, node, notify) };
    }
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp9executors21MultiThreadedExecutorC1ERKNS_15ExecutorOptionsEmbNSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE")]
unsafe extern "C-unwind" fn construct_multi(
    this: *mut c_void,
    options: *const c_void,
    threads: usize,
    yields: bool,
    timeout: i64,
) {
    if let Some(original) = MULTI.original() {
        // SAFETY: the original, with the same arguments.
        unsafe {
            std::mem::transmute::<*const c_void, Construct5>(original)(
                this, options, threads, yields, timeout,
            )
        };
    }
    constructed(this, b"multi_threaded_executor");
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp8ExecutorC2ERKNS_15ExecutorOptionsE")]
unsafe extern "C-unwind" fn construct_base(this: *mut c_void, options: *const c_void) {
    let _busy = Busy::with(this);
    if let Some(original) = BASE.original() {
        // SAFETY: the original, with the same arguments.
        unsafe { std::mem::transmute::<*const c_void, Construct2>(original)(this, options) };
    }
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp9executors25ExecutorEntitiesCollectorC1ESt10shared_ptrINS0_22ExecutorNotifyWaitableEE")]
unsafe extern "C-unwind" fn construct_collector(this: *mut c_void, waitable: *mut SharedPointer) {
    if let Some(original) = COLLECTOR.original() {
        // SAFETY: the original, with the same arguments.
        unsafe { std::mem::transmute::<*const c_void, AddMember>(original)(this, waitable) };
    }
    let executor = thread::set_executor(0);
    if executor != 0 {
        pair(
            events::CARET_EXECUTOR_ENTITY_COLLECTOR_TO_EXECUTOR,
            executor as *const c_void,
            this,
        );
    }
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp8Executor25add_callback_group_to_mapESt10shared_ptrINS_13CallbackGroupEES1_INS_15node_interfaces17NodeBaseInterfaceEERSt3mapISt8weak_ptrIS2_ES8_IS5_ESt10owner_lessIS9_ESaISt4pairIKS9_SA_EEEb")]
unsafe extern "C-unwind" fn add_to_map(
    this: *mut c_void,
    group: *mut SharedPointer,
    node: *mut SharedPointer,
    map: *mut c_void,
    notify: bool,
) {
    // SAFETY: the original, with the same arguments. It may move out of the pointer, so that is read before.
    unsafe {
        let added = (*group).object;
        if let Some(original) = ADD_TO_MAP.original() {
            let original = std::mem::transmute::<*const c_void, AddToMap>(original);
            original(this, group, node, map, notify);
        }
        grouped(events::CARET_ADD_CALLBACK_GROUP, this, added);
    }
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp9executors31StaticExecutorEntitiesCollector18add_callback_groupESt10shared_ptrINS_13CallbackGroupEES2_INS_15node_interfaces17NodeBaseInterfaceEERSt3mapISt8weak_ptrIS3_ES9_IS6_ESt10owner_lessISA_ESaISt4pairIKSA_SB_EEE")]
unsafe extern "C-unwind" fn add_static(
    this: *mut c_void,
    group: *mut SharedPointer,
    node: *mut SharedPointer,
    map: *mut c_void,
) -> bool {
    // SAFETY: as in `add_to_map`.
    unsafe {
        let added = (*group).object;
        let is_new = match ADD_STATIC.original() {
            Some(original) => {
                let original = std::mem::transmute::<*const c_void, AddStatic>(original);
                original(this, group, node, map)
            }
            None => false,
        };
        tie_static(this);
        grouped(
            events::CARET_ADD_CALLBACK_GROUP_STATIC_EXECUTOR,
            this,
            added,
        );
        is_new
    }
}

/// # Safety
/// As the original.
#[unsafe(export_name = "_ZN6rclcpp9executors25ExecutorEntitiesCollector32add_callback_group_to_collectionESt10shared_ptrINS_13CallbackGroupEERSt3setISt8weak_ptrIS3_ESt10owner_lessIS7_ESaIS7_EE")]
unsafe extern "C-unwind" fn add_to_collection(
    this: *mut c_void,
    group: *mut SharedPointer,
    collection: *mut c_void,
) {
    // SAFETY: as in `add_to_map`.
    unsafe {
        let added = (*group).object;
        if let Some(original) = ADD_TO_COLLECTION.original() {
            let original = std::mem::transmute::<*const c_void, AddToCollection>(original);
            original(this, group, collection);
        }
        grouped(
            events::CARET_CALLBACK_GROUP_TO_EXECUTOR_ENTITY_COLLECTOR,
            this,
            added,
        );
    }
}

/// Adds a member to a group, and asks the member for its rcl handle.
///
/// # Safety
/// As the original; the accessor belongs to the member's class.
unsafe fn add_member(
    hook: &Hook,
    accessor: &Hook,
    event: u16,
    group: *mut c_void,
    member: *mut SharedPointer,
) {
    // SAFETY: the original, with the same arguments. The handle is asked for while the caller's pointer still holds the
    // member, and the member holds its handle.
    unsafe {
        let mut handle = std::ptr::null_mut();
        if records(event)
            && !(*member).object.is_null()
            && let Some(accessor) = accessor.original()
        {
            let pointer = shared_pointer_from(accessor, (*member).object);
            handle = pointer.object;
            pointer.let_go();
        }
        if let Some(original) = hook.original() {
            std::mem::transmute::<*const c_void, AddMember>(original)(group, member);
        }
        if !handle.is_null() {
            pair(event, group, handle);
        }
    }
}

/// Calls a method that returns a shared pointer: the caller passes the place for it before the object.
///
/// # Safety
/// The method takes nothing but its object.
unsafe fn shared_pointer_from(method: *const c_void, object: *mut c_void) -> SharedPointer {
    type Method =
        unsafe extern "C-unwind" fn(*mut SharedPointer, *mut c_void) -> *mut SharedPointer;
    let mut result = SharedPointer::null();
    // SAFETY: the Itanium C++ ABI on x86-64. Elsewhere the place may be passed in another register.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::mem::transmute::<*const c_void, Method>(method)(&mut result, object);
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (method, object, None::<Method>, &mut result);
    }
    result
}

macro_rules! members {
    ($($name:ident = $symbol:literal, $hook:ident, $accessor:ident, $event:ident;)+) => { $(
        /// # Safety
        /// As the original.
        #[unsafe(export_name = $symbol)]
        unsafe extern "C-unwind" fn $name(group: *mut c_void, member: *mut SharedPointer) {
            // SAFETY: as the caller promises.
            unsafe { add_member(&$hook, &$accessor, events::$event, group, member) };
        }
    )+ };
}

members! {
    add_timer = "_ZN6rclcpp13CallbackGroup9add_timerESt10shared_ptrINS_9TimerBaseEE",
        ADD_TIMER, TIMER_HANDLE, CARET_CALLBACK_GROUP_ADD_TIMER;
    add_subscription = "_ZN6rclcpp13CallbackGroup16add_subscriptionESt10shared_ptrINS_16SubscriptionBaseEE",
        ADD_SUBSCRIPTION, SUBSCRIPTION_HANDLE, CARET_CALLBACK_GROUP_ADD_SUBSCRIPTION;
    add_service = "_ZN6rclcpp13CallbackGroup11add_serviceESt10shared_ptrINS_11ServiceBaseEE",
        ADD_SERVICE, SERVICE_HANDLE, CARET_CALLBACK_GROUP_ADD_SERVICE;
    add_client = "_ZN6rclcpp13CallbackGroup10add_clientESt10shared_ptrINS_10ClientBaseEE",
        ADD_CLIENT, CLIENT_HANDLE, CARET_CALLBACK_GROUP_ADD_CLIENT;
}
