//! The eight promises of README, a file each: random files, limits, configurations and conversations through the whole stack, in every wire format.
//! Each fails where its promise is broken, whichever module breaks it.

#[allow(dead_code, reason = "no git runs here")]
mod place;

mod promises {
    mod bodies;
    mod conversation;
    mod hot_path_does_no_io;
    mod limits_hold;
    mod measured;
    mod no_broken_file_stops_anything;
    mod nothing_breaks_out;
    mod nothing_silent;
    mod random;
    mod same_input_same_bytes;
    mod seen;
    mod steps;
    mod the_host_decides;
    mod untrusted_stays_untrusted;
    mod world;
}
