# Rscript write.R FOLDER: writes the table of `../written.rs` in the ways that R does. R has no whole numbers of 64 bits, so
# times are text without quotes.
folder <- commandArgs(trailingOnly = TRUE)[1]
table <- data.frame(
  rank = 0:1, type = c("send", "receive"), timestamp_ns = c("1700000000000000500", "1700000000000000900"),
  source = 0, destination = 1, size = 1e2, duration_ns = c(50, 300), tag = 4L
)
write.csv(table, file.path(folder, "R.csv"))
write.csv2(table, file.path(folder, "R_decimal_comma.csv"), row.names = FALSE)
write.table(table, file.path(folder, "R_blanks.txt"))
write.table(table, file.path(folder, "R_tabs.tsv"), sep = "\t", row.names = FALSE, quote = FALSE)
