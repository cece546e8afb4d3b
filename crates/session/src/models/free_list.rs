//! The free lists: a number is given out once, to one thread, and comes back.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::memory::pool::{FreeList, Links};
use crate::models::{explore, start};
use crate::sync::modelled::{will_read, will_write};
use crate::sync::{AtomicU32, AtomicU64};

/// A list, what it gives out, and what lies in each of these.
struct Pool {
    list: FreeList,
    links: Vec<AtomicU32>,
    things: Vec<u64>,
}

impl Links for Pool {
    fn link(&self, number: u32) -> Option<&AtomicU32> {
        self.links.get(number as usize)
    }
}

impl Pool {
    /// So many things, all of them free.
    fn new(things: u32) -> Arc<Pool> {
        let pool = Arc::new(Pool {
            list: FreeList(AtomicU64::new(0)),
            links: (0..things).map(|_| AtomicU32::new(0)).collect(),
            things: vec![0; things as usize],
        });
        for number in (0..things).rev() {
            pool.list.push(&*pool, number);
        }
        pool.list.0.adopt();
        for link in &pool.links {
            link.adopt();
        }
        pool
    }

    /// Takes one and uses it; nobody else may be using it.
    fn take(&self) -> Option<u32> {
        let number = self.list.pop(self)?;
        will_write((&raw const self.things[number as usize]).cast(), 8);
        Some(number)
    }

    /// Reads it, as a keeper does, and gives it back.
    fn give(&self, number: u32) {
        will_read((&raw const self.things[number as usize]).cast(), 8);
        self.list.push(self, number);
    }

    /// At the end everything is there, once.
    fn assert_whole(&self) {
        let mut all: Vec<u32> = std::iter::from_fn(|| self.take()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..self.links.len() as u32).collect::<Vec<_>>());
        assert_eq!(self.list.0.load(Ordering::Relaxed) as u32, 0);
    }
}

#[test]
fn nothing_is_given_out_twice_or_lost_when_the_same_number_is_on_top_again() {
    explore("free list, on top again", 3, || {
        let pool = Pool::new(3);
        let (slow, quick) = (Arc::clone(&pool), Arc::clone(&pool));
        // Sleeps between looking at the top and taking it, in some order.
        let slow = start(move || {
            let number = slow.take().expect("there are enough");
            slow.give(number);
        });
        // Takes two and gives the first back: what was below it is not there any more.
        let quick = start(move || {
            let (first, second) = (quick.take(), quick.take());
            quick.give(first.expect("there are enough"));
            second
        });
        slow.join().expect("no panic");
        let second = quick.join().expect("no panic");
        pool.give(second.expect("there are enough"));
        pool.assert_whole();
    });
}

#[test]
fn takers_and_a_giver_share_what_is_there() {
    explore("free list, takers and a giver", 3, || {
        let pool = Pool::new(2);
        let held = pool.take().expect("there are two");
        let takers = [0, 1].map(|_| {
            let pool = Arc::clone(&pool);
            start(move || pool.take())
        });
        // As a keeper that has written a packet to the disk; it counts meanwhile, too.
        let giver = Arc::clone(&pool);
        let giver = start(move || {
            giver.give(held);
            assert!(giver.list.count(&*giver, 2) <= 2);
        });
        giver.join().expect("no panic");
        let mut taken = 0;
        for taker in takers {
            if let Some(number) = taker.join().expect("no panic") {
                taken += 1;
                pool.give(number);
            }
        }
        assert!(taken >= 1, "nobody got anything");
        pool.assert_whole();
    });
}
