//! From a request to a response: the gate first, then files, health or the feed.

use crate::assets;
use crate::gate::{Claims, Gate, Refusal};
use crate::live::Source;
use crate::viewer::{self, Patience};
use mpiscope_feed::PROTOCOL;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use tokio_util_tracker::Tracker;
use warp::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use warp::http::{Method, StatusCode};
use warp::reply::{Reply, Response};
use warp::ws::Ws;
use warp::{Filter, Rejection};
