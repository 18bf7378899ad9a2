# Checks that one truth block is there and consistent with itself. Variables: ranks; ends, the number of ranks that
# come to MPI_Finalize. Prints what must not differ from run to run, or from family to family: all but the counts of
# functions that poll or that take what they find (Open MPI passes over persistent requests to nobody).
function fail(text) { print "truth: " text > "/dev/stderr"; failed = 1 }
$0 == "mpiscope-truth 1" { if (begun++) fail("two blocks"); next }
!begun || finished { next }
$1 == "pair" && NF == 5 && $4 > 0 && $5 >= 0 && $2 < ranks && $3 < ranks {
    if (seen[$2, $3]++) fail("twice: " $0)
    sent[$2] += $4; received[$3] += $4
    print; next
}
$1 == "calls" && NF == 4 && $4 > 0 && $2 < ranks {
    if (seen[$2, $3]++) fail("twice: " $0)
    if ($3 ~ /^MPI_(Send|Bsend|Ssend|Rsend|Isend|Ibsend|Issend|Irsend|Sendrecv|Sendrecv_replace)$/) sends[$2] += $4
    if ($3 ~ /^MPI_(Recv|Irecv|Sendrecv|Sendrecv_replace|Mrecv|Imrecv)$/) receives[$2] += $4
    # A start may be of a send or of a receive, and of several.
    if ($3 == "MPI_Start") { sends[$2] += $4; receives[$2] += $4 }
    if ($3 == "MPI_Startall") several[$2] = 1
    if ($3 ~ /^MPI_Init(_thread)?$/) begins += $4
    if ($3 == "MPI_Finalize") finalizes += $4
    if ($3 !~ /^MPI_(Test.*|Iprobe|Improbe|Waitsome|Waitany)$/) print
    next
}
$1 == "moved" && NF == 4 && $4 > 0 && $2 < ranks {
    if (seen["moved", $2, $3]++) fail("twice: " $0)
    print; next
}
$0 == "end" { finished = 1; next }
{ fail("not understood: " $0) }
END {
    if (!finished) fail("no end")
    if (begins != ranks) fail(begins + 0 " initialisations")
    if (finalizes + 0 != ends) fail(finalizes + 0 " finalisations")
    # Sends to and receives from MPI_PROC_NULL are calls without a message.
    for (rank = 0; rank < ranks; rank++) {
        if (rank in several) continue
        if (sent[rank] + 0 > sends[rank] + 0) fail("rank " rank " sent more messages than it made calls")
        if (received[rank] + 0 > receives[rank] + 0) fail("rank " rank " got more messages than it made calls")
    }
    exit failed
}
