# awk -f write.awk > awk.txt: writes the table of `../written.rs`; numbers of awk are floating-point, times stay text.
BEGIN {
    OFS = " "
    print "rank", "type", "timestamp_ns", "source", "destination", "size", "duration_ns", "tag"
    print 0, "send", "1700000000000000500", 0, 1, 200 / 2, 0.5e2, 4
    printf "%6d %-10s %s %d %d %.1f %e %d\n", 1, "receive", "1700000000000000900", 0, 1, 100, 300, 4
}
