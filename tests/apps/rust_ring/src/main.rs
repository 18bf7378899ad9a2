//! rust_ring [rounds [matched]]: what a program in Rust does through the `mpi` crate, round after round, and its own
//! word about it. Each call of the crate stands next to the name of the function that it ends in, which is from the
//! crate's source. With `matched` it receives by matched probes as well.

mod collectives;
mod truth;

use mpi::datatype::{MutView, UserDatatype, View};
use mpi::point_to_point as p2p;
use mpi::request;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use truth::Truth;

/// Sixteen bytes in memory, twelve in a message.
#[derive(Equivalence, Clone, Copy, Default, PartialEq, Debug)]
struct Particle {
    weight: f64,
    kind: i32,
}

const PARTICLE_BYTES: usize = 12;

struct Ring<'a> {
    world: &'a SimpleCommunicator,
    truth: &'a Truth,
    rank: i32,
    size: i32,
    right: i32,
    left: i32,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds: usize = arguments.get(1).map_or(20, |word| word.parse().expect("a number of rounds"));
    let matched = arguments.get(2).is_some_and(|word| word == "matched");

    let universe = mpi::initialize().expect("MPI starts");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let truth = Truth::new(size as usize);
    truth.called("MPI_Init_thread");
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let ring = Ring { world: &world, truth: &truth, rank, size, right, left };
    for round in 0..rounds {
        // Another size in each round: a message that is paired wrongly does not fit.
        let count = 1 + round % 7;
        ring.blocking(count);
        ring.from_anybody(count);
        ring.several_at_once(count);
        ring.polled(count);
        ring.both_ways(count);
        ring.own_types(count);
        ring.in_halves(count);
        if matched {
            ring.matched(count);
        }
        collectives::blocking(&world, &truth, count);
        collectives::immediate(&world, &truth, count);
    }
    truth.called("MPI_Finalize");
    truth.print(&world);
}

impl Ring<'_> {
    /// A token goes round, by each way of sending that may wait.
    fn blocking(&self, count: usize) {
        let (left, right) = (self.world.process_at_rank(self.left), self.world.process_at_rank(self.right));
        let mut token = vec![self.rank; count];
        if self.rank != 0 {
            self.truth.called("MPI_Recv");
            left.receive_into_with_tag(&mut token[..], 1);
        }
        self.truth.sent("MPI_Send", self.right, 4 * count);
        right.send_with_tag(&token[..], 1);
        if self.rank == 0 {
            self.truth.called("MPI_Recv");
            left.receive_into_with_tag(&mut token[..], 1);
        }
        assert!(token.iter().all(|value| *value == 0));

        // The receiver is ready, which a barrier makes sure.
        let mut ready = 0_u64;
        request::scope(|scope| {
            self.truth.called("MPI_Irecv");
            let receive = left.immediate_receive_into_with_tag(scope, &mut ready, 2);
            self.truth.called("MPI_Barrier");
            self.world.barrier();
            self.truth.sent("MPI_Rsend", self.right, 8);
            // SAFETY: the receiver posted its receive before the barrier.
            unsafe { right.ready_send_with_tag(&7_u64, 2) };
            self.truth.called("MPI_Wait");
            receive.wait();
        });
        assert_eq!(ready, 7);

        if self.rank % 2 == 0 && self.rank + 1 < self.size {
            self.truth.sent("MPI_Ssend", self.right, 2 * count);
            right.synchronous_send_with_tag(&vec![1_i16; count][..], 3);
        } else if self.rank % 2 == 1 {
            self.truth.called("MPI_Probe");
            let status = left.probe_with_tag(3);
            let mut received = vec![0_i16; status.count(i16::equivalent_datatype()) as usize];
            self.truth.called("MPI_Recv");
            left.receive_into_with_tag(&mut received[..], 3);
            assert_eq!(received.len(), count);
        }
    }

    /// Everybody sends to rank 0, which takes what comes.
    fn from_anybody(&self, count: usize) {
        if self.rank == 0 {
            for _ in 1..self.size {
                let mut message = vec![0_u8; 100];
                self.truth.called("MPI_Recv");
                let status = self.world.any_process().receive_into_with_tag(&mut message[..], 4);
                let bytes = status.count(u8::equivalent_datatype());
                assert_eq!(bytes, status.source_rank() + count as i32);
            }
        } else {
            let bytes = self.rank as usize + count;
            self.truth.sent("MPI_Send", 0, bytes);
            self.world.process_at_rank(0).send_with_tag(&vec![9_u8; bytes][..], 4);
        }
    }

    /// Requests to all others, completed one by one, some at a time, and all together.
    fn several_at_once(&self, count: usize) {
        let others: Vec<i32> = (0..self.size).filter(|other| *other != self.rank).collect();
        let message = vec![self.rank as u64; count];
        for way in ["MPI_Waitany", "MPI_Waitsome", "MPI_Waitall"] {
            let mut buffers = vec![vec![0_u64; count]; others.len()];
            request::multiple_scope(2 * others.len(), |scope, requests| {
                for (buffer, other) in buffers.iter_mut().zip(&others) {
                    self.truth.called("MPI_Irecv");
                    let process = self.world.process_at_rank(*other);
                    requests.add(process.immediate_receive_into_with_tag(scope, &mut buffer[..], 5));
                }
                for other in &others {
                    self.truth.sent("MPI_Isend", *other, 8 * count);
                    let process = self.world.process_at_rank(*other);
                    requests.add(process.immediate_send_with_tag(scope, &message[..], 5));
                }
                let mut done = Vec::new();
                while requests.incomplete() > 0 {
                    self.truth.called(way);
                    match way {
                        "MPI_Waitany" => drop(requests.wait_any()),
                        "MPI_Waitsome" => requests.wait_some(&mut done),
                        _ => requests.wait_all(&mut done),
                    }
                }
            });
            assert!(buffers.iter().zip(&others).all(|(buffer, other)| buffer[0] == *other as u64));
        }
        // The crate has another function for any one of a vector; what completes leaves the vector.
        let word = self.rank as u64;
        request::scope(|scope| {
            let mut requests = Vec::new();
            for other in &others {
                self.truth.sent("MPI_Issend", *other, 8);
                let process = self.world.process_at_rank(*other);
                requests.push(process.immediate_synchronous_send_with_tag(scope, &word, 6));
            }
            for _ in &others {
                self.truth.called("MPI_Recv");
                let (received, status) = self.world.any_process().receive_with_tag::<u64>(6);
                assert_eq!(received, status.source_rank() as u64);
            }
            while !requests.is_empty() {
                self.truth.called("MPI_Waitany");
                request::wait_any(&mut requests);
            }
        });
    }

    /// Completed by asking again and again, in each way that there is.
    fn polled(&self, count: usize) {
        let (left, right) = (self.world.process_at_rank(self.left), self.world.process_at_rank(self.right));
        let message = vec![3_f32; count];
        for way in ["MPI_Test", "MPI_Testany", "MPI_Testsome", "MPI_Testall"] {
            let mut buffer = vec![0_f32; count];
            request::multiple_scope(2, |scope, requests| {
                self.truth.called("MPI_Irecv");
                let mut receive = left.immediate_receive_into_with_tag(scope, &mut buffer[..], 7);
                self.truth.sent("MPI_Isend", self.right, 4 * count);
                let send = right.immediate_send_with_tag(scope, &message[..], 7);
                if way == "MPI_Test" {
                    loop {
                        self.truth.called(way);
                        match receive.test() {
                            Ok(_) => break,
                            Err(again) => receive = again,
                        }
                    }
                    self.truth.called("MPI_Wait");
                    send.wait();
                    return;
                }
                requests.add(receive);
                requests.add(send);
                let mut done = Vec::new();
                while requests.incomplete() > 0 {
                    self.truth.called(way);
                    match way {
                        "MPI_Testany" => drop(requests.test_any()),
                        "MPI_Testsome" => requests.test_some(&mut done),
                        _ => drop(requests.test_all(&mut done)),
                    }
                }
            });
            assert!(buffer.iter().all(|value| *value == 3.0));
        }
        request::scope(|scope| {
            self.truth.sent("MPI_Isend", self.right, 4 * count);
            let send = right.immediate_send_with_tag(scope, &message[..], 8);
            loop {
                self.truth.called("MPI_Iprobe");
                if left.immediate_probe_with_tag(8).is_some() {
                    break;
                }
            }
            let mut buffer = vec![0_f32; count];
            self.truth.called("MPI_Recv");
            left.receive_into_with_tag(&mut buffer[..], 8);
            self.truth.called("MPI_Wait");
            send.wait();
        });
    }

    fn both_ways(&self, count: usize) {
        let (left, right) = (self.world.process_at_rank(self.left), self.world.process_at_rank(self.right));
        self.truth.sent("MPI_Sendrecv", self.right, 4);
        let (received, _): (i32, _) = p2p::send_receive(&self.rank, &right, &left);
        assert_eq!(received, self.left);
        let (message, mut buffer) = (vec![self.rank; count], vec![0; count]);
        self.truth.sent("MPI_Sendrecv", self.left, 4 * count);
        p2p::send_receive_into(&message[..], &left, &mut buffer[..], &right);
        assert_eq!(buffer[0], self.right);
        self.truth.sent("MPI_Sendrecv_replace", self.right, 4 * count);
        p2p::send_receive_replace_into(&mut buffer[..], &right, &left);
        assert_eq!(buffer[0], self.rank);
    }

    /// Types of the program: of a structure, and with gaps.
    fn own_types(&self, count: usize) {
        let (left, right) = (self.world.process_at_rank(self.left), self.world.process_at_rank(self.right));
        let particles = vec![Particle { weight: 0.5, kind: self.rank }; count];
        let mut received = vec![Particle::default(); count];
        request::scope(|scope| {
            self.truth.called("MPI_Irecv");
            let receive = left.immediate_receive_into(scope, &mut received[..]);
            self.truth.sent("MPI_Send", self.right, PARTICLE_BYTES * count);
            right.send(&particles[..]);
            self.truth.called("MPI_Wait");
            receive.wait_without_status();
        });
        assert!(received.iter().all(|particle| *particle == Particle { weight: 0.5, kind: self.left }));

        let (matrix, mut other) = (vec![self.rank; 3 * count], vec![-1; 3 * count]);
        let column = UserDatatype::vector(count as i32, 1, 3, &i32::equivalent_datatype());
        // SAFETY: a column of a matrix of three columns lies in the matrix.
        let from = unsafe { View::with_count_and_datatype(&matrix[..], 1, &column) };
        // SAFETY: as above.
        let mut to = unsafe { MutView::with_count_and_datatype(&mut other[..], 1, &column) };
        self.truth.sent("MPI_Sendrecv", self.right, 4 * count);
        p2p::send_receive_into(&from, &right, &mut to, &left);
        assert!(
            other.iter().enumerate().all(|(at, value)| *value == if at % 3 == 0 { self.left } else { -1 })
        );
    }

    /// The odd and the even ranks among themselves, in turned order; and in a communicator that is a copy.
    fn in_halves(&self, count: usize) {
        self.truth.called("MPI_Comm_split");
        let half = self.world.split_by_color_with_key(Color::with_value(self.rank % 2), -self.rank);
        let half = half.expect("every rank has a color");
        let (own, ranks) = (half.rank(), half.size());
        // The last of the half is the first here.
        let next = (own + 1) % ranks;
        let last = self.size - 1 - (self.size - 1 - self.rank % 2) % 2;
        self.truth.sent("MPI_Sendrecv", last - 2 * next, 8 * count);
        let (message, mut buffer) = (vec![1_i64; count], vec![0_i64; count]);
        let (to, from) = (half.process_at_rank(next), half.process_at_rank((own + ranks - 1) % ranks));
        p2p::send_receive_into(&message[..], &to, &mut buffer[..], &from);
        self.truth.called("MPI_Comm_dup");
        let copy = half.duplicate();
        self.truth.called("MPI_Barrier");
        copy.barrier();
        self.truth.called("MPI_Comm_free");
        drop(copy);
        self.truth.called("MPI_Comm_free");
        drop(half);
    }

    /// A vector of a length that the receiver does not know, and a message that is taken before it is received.
    fn matched(&self, count: usize) {
        let (left, right) = (self.world.process_at_rank(self.left), self.world.process_at_rank(self.right));
        let message = vec![0.25_f64; count];
        request::scope(|scope| {
            self.truth.sent("MPI_Isend", self.right, 8 * count);
            let send = right.immediate_send_with_tag(scope, &message[..], 9);
            self.truth.called("MPI_Mprobe");
            self.truth.called("MPI_Mrecv");
            let (received, _) = self.world.any_process().receive_vec_with_tag::<f64>(9);
            assert_eq!(received, message);
            self.truth.called("MPI_Wait");
            send.wait();

            self.truth.sent("MPI_Isend", self.right, 8 * count);
            let send = right.immediate_send_with_tag(scope, &message[..], 10);
            let (found, _) = loop {
                self.truth.called("MPI_Improbe");
                if let Some(found) = left.immediate_matched_probe_with_tag(10) {
                    break found;
                }
            };
            let mut buffer = vec![0_f64; count];
            request::scope(|inner| {
                self.truth.called("MPI_Imrecv");
                let receive = found.immediate_matched_receive_into(inner, &mut buffer[..]);
                self.truth.called("MPI_Wait");
                receive.wait();
            });
            assert_eq!(buffer, message);
            self.truth.called("MPI_Wait");
            send.wait();
        });
    }
}
