//! Rows that belong together: for each row of one table the rows of another that refer to it, without a hash map.

use std::marker::PhantomData;

/// The members of each group, in the order in which they were given. Keys and members are row numbers.
#[derive(Debug)]
pub struct Groups<K, M> {
    /// Where each group begins in `members`; one more than there are groups.
    begins: Vec<u32>,
    members: Vec<M>,
    keys: PhantomData<K>,
}

/// A row number that says which table it counts in.
pub trait RowNumber: Copy {
    fn number(self) -> usize;
    fn of(number: usize) -> Self;
}

impl<K: RowNumber, M: RowNumber> Groups<K, M> {
    /// Groups the rows `0..rows` by the key that each has; rows without a key are in no group.
    pub fn new(groups: usize, rows: usize, key: impl Fn(usize) -> Option<K>) -> Groups<K, M> {
        let mut begins = vec![0u32; groups + 1];
        for row in 0..rows {
            if let Some(key) = key(row) {
                begins[key.number() + 1] += 1;
            }
        }
        for group in 0..groups {
            begins[group + 1] += begins[group];
        }
        let mut next = begins.clone();
        let mut members = vec![M::of(0); begins[groups] as usize];
        for row in 0..rows {
            if let Some(key) = key(row) {
                let place = &mut next[key.number()];
                members[*place as usize] = M::of(row);
                *place += 1;
            }
        }
        Groups {
            begins,
            members,
            keys: PhantomData,
        }
    }

    pub fn of(&self, key: K) -> &[M] {
        let group = key.number();
        &self.members[self.begins[group] as usize..self.begins[group + 1] as usize]
    }
}

macro_rules! row_numbers {
    ($($id:ident)+) => {
        use rostrace_model::entity::{$($id),+};

        $(impl RowNumber for $id {
            fn number(self) -> usize {
                self.index()
            }

            fn of(number: usize) -> $id {
                // Tables of more than 2^32 rows would not fit into memory.
                <$id>::from_index(number)
            }
        })+
    };
}

row_numbers! {
    CallbackId ClientCallbackId DeliveryId EnqueueId InstanceId LockWaitId NodeId PhaseId ProcessId
    PublicationId PublisherId RequestId SubscriptionId TakeId ThreadId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_the_keyless_are_nowhere() {
        let keys = [Some(2), None, Some(0), Some(2)];
        let groups: Groups<CallbackId, InstanceId> =
            Groups::new(3, keys.len(), |row| keys[row].map(CallbackId));
        assert_eq!(groups.of(CallbackId(0)), [InstanceId(2)]);
        assert!(groups.of(CallbackId(1)).is_empty());
        assert_eq!(groups.of(CallbackId(2)), [InstanceId(0), InstanceId(3)]);
    }
}
