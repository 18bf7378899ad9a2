/* Runs a command and makes system calls of one of its processes fail, or counts what could be made to fail.
 *
 *     fail_call ROLE KIND NUMBER TIMES LOG COMMAND...
 *
 * ROLE is "run" for the command itself (with what it forks, up to their exec), "rank" for processes of the user's job, or
 * the first argument of a process of the same program, such as "record". KIND is one of `kinds` below. NUMBER counts the
 * calls of that kind that all threads of all processes of that role make, from 1; this call and those that follow, TIMES
 * in all, are not made and return the error of their kind. LOG gets a line "KIND COUNT" for each kind that the role used, and "failed WHAT" once it happened.
 *
 * Calls of the dynamic linker do not count: without them there is no program. Of ranks only calls count that concern a
 * file in a folder of rings: the others are the user's. The exit status is that of the command. For Linux on
 * x86-64. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name;
    int error;
} kinds[] = {
    {"open", EMFILE},   {"map", ENOMEM},    {"resize", ENOSPC}, {"write", ENOSPC}, {"sync", EIO},     {"socket", EMFILE},
    {"connect", ECONNREFUSED}, {"bind", EADDRINUSE}, {"listen", EADDRINUSE}, {"thread", EAGAIN},
    {"start", EAGAIN},  {"exec", ENOMEM},   {"rename", EIO},    {"folder", ENOSPC},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], MOST = 4096 };

/* A thread under trace. */
struct task {
    pid_t id, process;
    int is_known, is_in_role, is_failing, has_called_exec;
};

static struct task tasks[MOST];
static int task_count;
static long counts[KINDS];
/* Which calls of a kind fail: from the first number on, before the second. */
static long fails_from, fails_until;
static const char *role;
static char own_program[4096];
static FILE *report;

static struct task *find(pid_t id)
{
    for (int at = 0; at < task_count; at++)
        if (tasks[at].id == id)
            return &tasks[at];
    if (task_count == MOST)
        exit(99);
    tasks[task_count] = (struct task){.id = id, .process = id};
    return &tasks[task_count++];
}

static void forget(pid_t id)
{
    struct task *task = find(id);
    *task = tasks[--task_count];
}

static int is_role(const char *name)
{
    return strcmp(role, name) == 0;
}

/* Whether a process that has just called exec has the role that is wanted. */
static int has_role(pid_t process, int is_first)
{
    char path[64], program[4096] = "", words[4096] = "";
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    if (readlink(path, program, sizeof program - 1) < 0)
        return 0;
    int is_own = strcmp(program, own_program) == 0;
    if (is_role("run"))
        return is_first;
    if (is_role("rank"))
        return !is_own;
    snprintf(path, sizeof path, "/proc/%d/cmdline", process);
    int file = open(path, O_RDONLY);
    long length = file < 0 ? 0 : read(file, words, sizeof words - 1);
    close(file);
    size_t first = strlen(words) + 1;
    return is_own && (long)first < length && is_role(words + first);
}

static int text_at(pid_t id, unsigned long long address, char *text, size_t size)
{
    /* Byte by byte towards a page that may be the last. */
    memset(text, 0, size);
    for (size_t at = 0; at + 1 < size; at++) {
        struct iovec to = {text + at, 1}, from = {(void *)(unsigned long)(address + at), 1};
        if (process_vm_readv(id, &to, 1, &from, 1, 0) != 1)
            return 0;
        if (text[at] == 0)
            return 1;
    }
    return 1;
}

static void name_of(pid_t process, long descriptor, char *name, size_t size)
{
    char path[64];
    memset(name, 0, size);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, (int)descriptor);
    if ((int)descriptor < 0 || readlink(path, name, size - 1) < 0)
        snprintf(name, size, "memory");
}

/* Whether a file is one of a folder of rings, which has the number of the user behind its first word. */
static int is_of_rings(const char *path)
{
    static const char mark[] = "/mpiscope-";
    const char *at = path;
    while ((at = strstr(at, mark)) != NULL) {
        at += sizeof mark - 1;
        if (*at >= '0' && *at <= '9')
            return 1;
    }
    return 0;
}

/* The kind of a call, and what it is about; -1 for one that is not made to fail. */
static int kind_of(const struct task *task, const struct __ptrace_syscall_info *info, char *about, size_t size)
{
    const uint64_t *words = info->entry.args;
    const char *kind = NULL;
    about[0] = 0;
    switch (info->entry.nr) {
    case SYS_open: kind = "open"; text_at(task->id, words[0], about, size); break;
    case SYS_openat: case SYS_openat2: kind = "open"; text_at(task->id, words[1], about, size); break;
    case SYS_mmap:
        /* A process that gets no memory ends: the standard library of Rust decides that. */
        kind = (int)words[4] < 0 ? NULL : "map";
        name_of(task->process, (long)words[4], about, size); break;
    case SYS_ftruncate: case SYS_fallocate: kind = "resize"; name_of(task->process, (long)words[0], about, size); break;
    case SYS_write: case SYS_pwrite64: case SYS_writev:
        kind = "write"; name_of(task->process, (long)words[0], about, size); break;
    case SYS_fsync: case SYS_fdatasync: kind = "sync"; name_of(task->process, (long)words[0], about, size); break;
    case SYS_socket: kind = "socket"; break;
    case SYS_connect: kind = "connect"; break;
    case SYS_bind: kind = "bind"; break;
    case SYS_listen: kind = "listen"; break;
    case SYS_fork: case SYS_vfork: kind = "start"; break;
    case SYS_clone: kind = words[0] & CLONE_THREAD ? "thread" : "start"; break;
    case SYS_clone3: {
        unsigned long long flags = 0;
        struct iovec to = {&flags, sizeof flags}, from = {(void *)(unsigned long)words[0], sizeof flags};
        if (process_vm_readv(task->id, &to, 1, &from, 1, 0) == sizeof flags)
            kind = flags & CLONE_THREAD ? "thread" : "start";
        break;
    }
    case SYS_execve: kind = "exec"; text_at(task->id, words[0], about, size); break;
    case SYS_rename: kind = "rename"; text_at(task->id, words[0], about, size); break;
    case SYS_renameat: case SYS_renameat2: kind = "rename"; text_at(task->id, words[1], about, size); break;
    case SYS_mkdir: kind = "folder"; text_at(task->id, words[0], about, size); break;
    case SYS_mkdirat: kind = "folder"; text_at(task->id, words[1], about, size); break;
    default: break;
    }
    for (int at = 0; kind && at < KINDS; at++)
        if (strcmp(kinds[at].name, kind) == 0)
            return at;
    return -1;
}

/* Whether an instruction is the dynamic linker's. */
static int is_of_linker(pid_t process, unsigned long long instruction)
{
    char path[64], line[4352];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long long from, to;
        if (sscanf(line, "%llx-%llx", &from, &to) == 2 && from <= instruction && instruction < to)
            found = strstr(line, "/ld-linux") != NULL;
    }
    if (maps)
        fclose(maps);
    return found;
}

/* A call begins: it is counted, and not made if it is the one that is to fail. */
static void enter(struct task *task, const struct __ptrace_syscall_info *info, const char *wanted)
{
    char about[4096];
    int kind = kind_of(task, info, about, sizeof about);
    if (kind < 0 || (is_role("rank") && !is_of_rings(about)))
        return;
    /* The counter of an event is memory of the kernel: a write to it always succeeds. */
    if (strncmp(about, "anon_inode:", 11) == 0)
        return;
    if (is_of_linker(task->process, info->instruction_pointer))
        return;
    counts[kind]++;
    if (strcmp(kinds[kind].name, wanted) != 0 || counts[kind] < fails_from || counts[kind] >= fails_until)
        return;
    fprintf(report, "failed %s\n", about[0] ? about : kinds[kind].name);
    fflush(report);
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, task->id, 0, &registers) == 0) {
        registers.orig_rax = (unsigned long long)-1;
        ptrace(PTRACE_SETREGS, task->id, 0, &registers);
        task->is_failing = kinds[kind].error;
    }
}

static void leave(struct task *task)
{
    struct user_regs_struct registers;
    if (task->is_failing && ptrace(PTRACE_GETREGS, task->id, 0, &registers) == 0) {
        registers.rax = (unsigned long long)-task->is_failing;
        ptrace(PTRACE_SETREGS, task->id, 0, &registers);
    }
    task->is_failing = 0;
}

/* A system call begins or ends. */
static void take_call(struct task *task, const char *wanted)
{
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, task->id, sizeof info, &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
        enter(task, &info, wanted);
    else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
        leave(task);
}

/* A thread or process is there, before it does anything: until it calls exec it is what its maker is. Where the system
 * reports it before its maker, that is found in /proc. */
static struct task *learn(pid_t id)
{
    char path[64], line[256];
    pid_t process = id, parent = 0;
    snprintf(path, sizeof path, "/proc/%d/status", id);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Tgid: %d", &process) != 1 && sscanf(line, "PPid: %d", &parent) == 1)
            break;
    if (status)
        fclose(status);
    pid_t maker = process == id ? parent : process;
    int is_in_role = 0;
    for (int at = 0; at < task_count; at++)
        if (tasks[at].process == maker && tasks[at].is_known)
            is_in_role = tasks[at].is_in_role;
    struct task *new = find(id);
    new->process = process;
    new->is_in_role = is_in_role;
    new->is_known = 1;
    return new;
}

/* A thread or process made another one. */
static void take_new(pid_t maker)
{
    unsigned long made = 0;
    if (ptrace(PTRACE_GETEVENTMSG, maker, 0, &made) != 0 || kill((pid_t)made, 0) != 0)
        return;
    int is_in_role = find(maker)->is_in_role;
    struct task *new = find((pid_t)made);
    if (!new->is_known)
        new = learn((pid_t)made);
    if (!new->has_called_exec)
        new->is_in_role = is_in_role;
}

static void resume(const struct task *task, int signal)
{
    ptrace(task->is_in_role ? PTRACE_SYSCALL : PTRACE_CONT, task->id, 0, signal);
}

static void take_stop(pid_t id, int status, pid_t first, const char *wanted)
{
    struct task *task = find(id);
    if (!task->is_known)
        task = learn(id);
    int signal = WSTOPSIG(status), event = status >> 16, passed_on = 0;
    if (event == PTRACE_EVENT_EXEC) {
        task->process = id;
        task->is_failing = 0;
        task->has_called_exec = 1;
        task->is_in_role = has_role(id, id == first);
    } else if (event == PTRACE_EVENT_STOP) {
        if (signal != SIGTRAP) {
            ptrace(PTRACE_LISTEN, id, 0, 0);
            return;
        }
    } else if (event) {
        take_new(id);
        task = find(id);
    } else if (signal == (SIGTRAP | 0x80)) {
        take_call(task, wanted);
    } else {
        passed_on = signal;
    }
    resume(task, passed_on);
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return 99;
    role = argv[1];
    const char *wanted = argv[2];
    fails_from = atol(argv[3]);
    fails_until = fails_from + atol(argv[4]);
    report = fopen(argv[5], "we");
    int barrier[2];
    if (!report || pipe2(barrier, O_CLOEXEC) != 0 || !realpath(argv[6], own_program))
        return 99;
    pid_t first = fork();
    if (first == 0) {
        char go;
        close(barrier[1]);
        if (read(barrier[0], &go, 1) == 1)
            execv(argv[6], argv + 6);
        _exit(99);
    }
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SEIZE, first, 0, options) != 0 || write(barrier[1], "", 1) != 1) {
        kill(first, SIGKILL);
        return 98;
    }
    close(barrier[0]);
    close(barrier[1]);
    /* Its caller waits for whatever has these open. */
    int result = 99, status;
    for (pid_t id; (id = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
        if (id <= 0)
            continue;
        if (WIFSTOPPED(status)) {
            take_stop(id, status, first, wanted);
            continue;
        }
        if (id == first)
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        forget(id);
    }
    for (int kind = 0; kind < KINDS; kind++)
        if (counts[kind])
            fprintf(report, "%s %ld\n", kinds[kind].name, counts[kind]);
    fclose(report);
    return result;
}
