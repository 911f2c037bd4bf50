//! The link between the hosts of the laboratory.
//!
//! The core is pure: time is an argument, so a simulator can step it.
//! [`netem::Link`] is what one direction of a path does to frames, with the semantics of Linux 6.1's
//! `sch_netem`; [`fabric::Fabric`] joins the links into a learning switch and holds the hook for an
//! [`adversary::Adversary`], which the laboratory's own takes through [`on_path::OnPath`]. Around the core stand the programs: `comseclab-switch` ([`switch`]),
//! `comseclab-capture` ([`capture`]) and `comseclab-probe` ([`probe`]).

pub mod adversary;
pub mod arguments;
pub mod capture;
pub mod clock;
pub mod control;
pub mod fabric;
pub mod fault;
pub mod histogram;
pub mod netem;
pub mod normal;
pub mod on_path;
pub mod packet_socket;
pub mod pcapng;
pub mod probe;
pub mod profile;
pub mod random;
pub mod realtime;
pub mod switch;
