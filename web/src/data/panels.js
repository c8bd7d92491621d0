// SPDX-License-Identifier: Apache-2.0
// The table of all panels of a node page, in groups. A panel is {name, title, unit, lines} with the options below; titles
// and line names are [English, Chinese].
//
// lines: [metric, name]. form: 'lines' (the default), 'stack', or 'heat' for a histogram. each: one line per entity, the
// sum of all the metrics. by: each value is divided by this metric's value of the same entity. share: percent of the sum
// of all lines. factor: from the API's unit to the panel's. limit: a metric drawn as the end of the scale. A counter comes
// as a rate per second. tests/web/node/panels.test.mjs compares this table with schema/def/metrics.def.
export const PERCENT = 100;
const KIB = 1024;
const MS = 1000;

const line = (metric, en, zh = en) => ({ metric, name: [en, zh] });
const panel = (name, en, zh, unit, lines, more = {}) => ({ name, title: [en, zh], unit, form: 'lines', factor: 1, lines, ...more });
const each = (name, en, zh, unit, metrics, more = {}) => panel(name, en, zh, unit, metrics.map((metric) => line(metric, '')), { each: true, ...more });
const heat = (name, en, zh, unit, metric) => panel(name, en, zh, unit, [line(metric, '')], { form: 'heat', each: true });
const psi = (of, en, zh) => panel(`psi-${of}`, en, zh, '%', [line(`pressure_${of}_waiting_seconds_total`, 'some waited', '部分等待'), line(`pressure_${of}_stalled_seconds_total`, 'all waited', '全部等待')], { factor: PERCENT });

const CPU = [
	panel('cpu', 'CPU time', 'CPU 时间', '%', [line('cpu_iowait_seconds_total', 'I/O wait', '等待 I/O'), line('cpu_steal_seconds_total', 'stolen', '被窃取'), line('cpu_irq_seconds_total', 'interrupts', '硬中断'), line('cpu_softirq_seconds_total', 'soft interrupts', '软中断'), line('cpu_system_seconds_total', 'kernel', '内核'), line('cpu_nice_seconds_total', 'nice', 'nice'), line('cpu_user_seconds_total', 'programs', '用户'), line('cpu_idle_seconds_total', 'idle', '空闲')], { form: 'stack', share: true, rest: 'cpu_idle_seconds_total' }),
	panel('load', 'Load average', '平均负载', 'threads', [line('load1', '1 min', '1 分钟'), line('load5', '5 min', '5 分钟'), line('load15', '15 min', '15 分钟')], { limit: line('cpus_online', 'CPUs', 'CPU 数') }),
	panel('threads', 'Threads running and blocked', '运行与阻塞的线程', 'threads', [line('procs_running', 'running', '运行'), line('procs_blocked', 'blocked', '阻塞')]),
	panel('asleep', 'Tasks in uninterruptible sleep', '不可中断睡眠的任务', 'tasks', [line('tasks_uninterruptible', 'most at once', '同时最多'), line('tasks_stuck', 'stuck', '停滞不动')]),
	panel('ipc', 'Instructions per cycle', '每周期指令数', 'instructions', [line('cpu_instructions_per_cycle', 'instructions', '指令')]),
	panel('cache-misses', 'Last-level cache misses', '末级缓存未命中', '/s', [line('cpu_cache_misses_total', 'misses', '未命中')]),
	panel('switches', 'Context switches and interrupts', '上下文切换与中断', '/s', [line('context_switches_total', 'switches', '切换'), line('intr_total', 'interrupts', '中断')]),
	panel('softirqs', 'Soft interrupts', '软中断', '/s', [line('softirqs_net_rx_total', 'received packets', '收包'), line('softirqs_net_tx_total', 'sent packets', '发包'), line('softirqs_block_total', 'disks', '磁盘'), line('softirqs_timer_total', 'timers', '定时器'), line('softirqs_sched_total', 'scheduler', '调度'), line('softirqs_rcu_total', 'RCU', 'RCU'), line('softirqs_hrtimer_total', 'high-resolution timers', '高精度定时器'), line('softirqs_tasklet_total', 'tasklets', 'tasklet'), line('softirqs_hi_total', 'urgent tasklets', '紧急 tasklet'), line('softirqs_irq_poll_total', 'polled disks', '轮询磁盘')]),
	panel('timers', 'Timers that fired', '到期的定时器', '/s', [line('hrtimer_expirations_total', 'high-resolution', '高精度'), line('timer_expirations_total', 'others', '其他')]),
	panel('forks', 'New processes and threads', '新建进程与线程', '/s', [line('forks_total', 'forks', '创建'), line('process_execs_total', 'programs executed', '执行程序')]),
	panel('exits', 'Processes that ended', '结束的进程', '/s', [line('process_exits_total', 'all', '全部'), line('process_exits_failed_total', 'with an error', '出错'), line('process_exits_killed_total', 'by a signal', '被信号终止')]),
	panel('cpu-watched', 'Share of the time in which waits for a CPU were timed', 'CPU 等待的计时占比', '%', [line('cpu_wait_watched_seconds_total', 'timed', '计时')], { factor: PERCENT }),
];

const PRESSURE = [psi('cpu', 'Waiting for a CPU', '等待 CPU'), psi('memory', 'Waiting for memory', '等待内存'), psi('io', 'Waiting for I/O', '等待 I/O')];

const MEMORY = [
	panel('memory', 'Memory', '内存', 'bytes', [line('memory_AnonPages_bytes', 'programs', '程序'), line('memory_Slab_bytes', 'kernel slab', '内核 slab'), line('memory_PageTables_bytes', 'page tables', '页表'), line('memory_Buffers_bytes', 'buffers', '缓冲'), line('memory_Cached_bytes', 'page cache', '页缓存'), line('memory_MemFree_bytes', 'free', '空闲')], { form: 'stack', rest: 'memory_MemFree_bytes', limit: line('memory_MemTotal_bytes', 'total', '总量') }),
	panel('available', 'Memory available to programs', '可用内存', 'bytes', [line('memory_MemAvailable_bytes', 'available', '可用')], { limit: line('memory_MemTotal_bytes', 'total', '总量') }),
	panel('committed', 'Memory committed, mapped and shared', '已承诺、映射与共享的内存', 'bytes', [line('memory_Committed_AS_bytes', 'committed', '已承诺'), line('memory_Mapped_bytes', 'mapped files', '映射文件'), line('memory_Shmem_bytes', 'shared', '共享'), line('memory_SReclaimable_bytes', 'reclaimable slab', '可回收 slab')]),
	panel('dirty', 'Not yet written to disk', '尚未写盘', 'bytes', [line('memory_Dirty_bytes', 'dirty', '脏页'), line('memory_Writeback_bytes', 'being written', '正在写回')]),
	panel('swap', 'Free swap', '空闲交换空间', 'bytes', [line('memory_SwapFree_bytes', 'free', '空闲')], { limit: line('memory_SwapTotal_bytes', 'total', '总量') }),
];

const PAGES = [
	panel('faults', 'Page faults', '缺页', '/s', [line('vmstat_pgfault', 'all', '全部')]),
	panel('majfaults', 'Page faults that read a disk', '读盘的缺页', '/s', [line('vmstat_pgmajfault', 'major', '主缺页')]),
	panel('paged', 'Paged in and out', '页换入换出', 'B/s', [line('vmstat_pgpgin', 'in', '入'), line('vmstat_pgpgout', 'out', '出')], { factor: KIB }),
	panel('swapped', 'Swapped in and out', '交换换入换出', 'pages/s', [line('vmstat_pswpin', 'in', '入'), line('vmstat_pswpout', 'out', '出')]),
	panel('reclaim', 'Short of memory: programs reclaim pages themselves', '内存不足：程序自行回收', '/s', [line('vmstat_pgscan_direct', 'pages scanned', '扫描页'), line('vmstat_compact_stall', 'waits for compaction', '规整等待')]),
	panel('oom', 'Processes killed for memory', '因内存被杀的进程', '/s', [line('vmstat_oom_kill', 'counted by the kernel', '内核计数'), line('oom_killed_processes_total', 'seen by the probe', '探针所见')]),
	panel('reclaiming', 'Time that tasks spent reclaiming memory', '任务用于回收内存的时间', '%', [line('memory_reclaim_seconds_total', 'of the node', '节点'), line('memory_cgroup_reclaim_seconds_total', 'of their cgroup', 'cgroup'), line('memory_compaction_seconds_total', 'compaction', '规整')], { factor: PERCENT }),
	heat('reclaim-us', 'Memory reclaim latency', '回收内存耗时分布', 'µs', 'memory_reclaim_latency_us_*'),
	heat('cgroup-reclaim-us', 'Memory reclaim latency of cgroups', 'cgroup 回收内存耗时分布', 'µs', 'memory_cgroup_reclaim_latency_us_*'),
	heat('compaction-us', 'Compaction latency', '内存规整耗时分布', 'µs', 'memory_compaction_latency_us_*'),
	panel('cache-hits', 'Read from the page cache, not from a disk', '读取命中页缓存的比例', '%', [line('page_cache_hit_bytes_total', 'of all bytes read', '占全部读取')], { by: 'page_cache_read_bytes_total', factor: PERCENT }),
	panel('refaults', 'File pages read again soon after eviction: the cache is too small', '文件页刚被回收又读回：缓存过小', 'pages/s', [line('vmstat_workingset_refault_file', 'pages', '页')]),
	panel('dentries', 'Names of files in memory', '内存中的文件名', 'dentries', [line('dentry_state_dentries', 'all', '全部'), line('dentry_state_unused', 'not in use', '未使用')]),
	panel('files', 'Open files', '打开的文件', 'files', [line('filefd_allocated', 'open', '已打开')]),
];

const DISKS = [
	each('disk-busy', 'Disk busy', '磁盘忙碌', '%', ['disk_io_time_seconds_total'], { factor: PERCENT }),
	each('disk-queue', 'Requests waiting or at the disk', '等待或处理中的磁盘请求', 'requests', ['disk_io_time_weighted_seconds_total']),
	each('disk-read', 'Read from disk', '读盘', 'B/s', ['disk_read_bytes_total']),
	each('disk-written', 'Written to disk', '写盘', 'B/s', ['disk_written_bytes_total']),
	each('disk-reads', 'Reads', '读请求', '/s', ['disk_reads_completed_total']),
	each('disk-writes', 'Writes', '写请求', '/s', ['disk_writes_completed_total']),
	each('disk-read-ms', 'Mean time of a read', '读平均耗时', 'ms', ['disk_read_time_seconds_total'], { by: 'disk_reads_completed_total', factor: MS }),
	each('disk-write-ms', 'Mean time of a write', '写平均耗时', 'ms', ['disk_write_time_seconds_total'], { by: 'disk_writes_completed_total', factor: MS }),
	each('disk-flush-ms', 'Mean time of a flush', '刷新平均耗时', 'ms', ['disk_flush_requests_time_seconds_total'], { by: 'disk_flush_requests_total', factor: MS }),
	each('disk-errors', 'Disk errors', '磁盘错误', '/s', ['disk_errors_total']),
	heat('disk-read-us', 'Read latency', '读耗时分布', 'µs', 'disk_read_latency_us_*'),
	heat('disk-write-us', 'Write latency', '写耗时分布', 'µs', 'disk_write_latency_us_*'),
	heat('disk-flush-us', 'Flush latency', '刷新耗时分布', 'µs', 'disk_flush_latency_us_*'),
	heat('disk-read-size', 'Read size', '读大小分布', 'bytes', 'disk_read_size_bytes_*'),
	heat('disk-write-size', 'Write size', '写大小分布', 'bytes', 'disk_write_size_bytes_*'),
	panel('slow-files', 'Slow file operations', '慢文件操作', '/s', [line('file_slow_operations_total', 'slow', '慢'), line('file_slow_told_total', 'sent as events', '成为事件')]),
];

const NETWORK = [
	each('net-rx', 'Received', '接收', 'B/s', ['network_receive_bytes_total']),
	each('net-tx', 'Sent', '发送', 'B/s', ['network_transmit_bytes_total']),
	each('net-rx-packets', 'Packets received', '接收包', '/s', ['network_receive_packets_total']),
	each('net-tx-packets', 'Packets sent', '发送包', '/s', ['network_transmit_packets_total']),
	each('net-drops', 'Packets dropped by an interface', '接口丢包', '/s', ['network_receive_drop_total', 'network_transmit_drop_total']),
	each('net-errors', 'Bad packets at an interface', '接口错包', '/s', ['network_receive_errs_total', 'network_receive_fifo_total', 'network_receive_frame_total', 'network_transmit_errs_total', 'network_transmit_fifo_total', 'network_transmit_colls_total', 'network_transmit_carrier_total']),
	panel('softnet', 'Packets received from the network cards', '从网卡取得的包', '/s', [line('softnet_processed_total', 'processed', '已取')]),
	panel('softnet-late', 'Receive work deferred, or packets dropped: queue full', '网卡等待或队列已满', '/s', [line('softnet_times_squeezed_total', 'deferred', '推迟'), line('softnet_dropped_total', 'dropped', '丢弃')]),
	each('kernel-drops', 'Packets dropped by the kernel, by reason', '内核丢包（按原因）', '/s', ['skb_drops_total']),
];

const TCP = [
	panel('tcp-open', 'Connections established', '已建立连接', 'connections', [line('netstat_Tcp_CurrEstab', 'established', '已建立')]),
	panel('tcp-opened', 'Connections opened', '新建连接', '/s', [line('netstat_Tcp_PassiveOpens', 'accepted', '接受'), line('netstat_Tcp_ActiveOpens', 'opened here', '发起')]),
	panel('tcp-failed', 'Connections failed', '失败的连接', '/s', [line('netstat_Tcp_AttemptFails', 'never established', '未建立'), line('netstat_Tcp_EstabResets', 'reset', '被重置'), line('netstat_Tcp_OutRsts', 'resets sent', '发出重置')]),
	panel('tcp-segments', 'Segments', '报文段', '/s', [line('netstat_Tcp_InSegs', 'in', '入'), line('netstat_Tcp_OutSegs', 'out', '出')]),
	panel('tcp-again', 'Retransmitted segments', '重传', '/s', [line('netstat_Tcp_RetransSegs', 'all', '全部'), line('netstat_TcpExt_TCPSynRetrans', 'SYN', 'SYN'), line('netstat_TcpExt_TCPTimeouts', 'timeouts', '超时')]),
	panel('tcp-listen', 'Accept queue overflows', '监听队列溢出', '/s', [line('netstat_TcpExt_ListenOverflows', 'full', '已满'), line('netstat_TcpExt_ListenDrops', 'dropped', '丢弃')]),
	heat('tcp-connect-us', 'Connect latency', '建立连接耗时分布', 'µs', 'tcp_connect_time_us_*'),
	heat('tcp-round-trip-us', 'Round trips of connections', '连接往返时延分布', 'µs', 'tcp_round_trip_us_*'),
	panel('tcp-not-connected', 'Why connections failed', '连接未建立的原因', '/s', [line('tcp_connects_refused_total', 'refused', '被拒绝'), line('tcp_connects_timed_out_total', 'no answer', '无应答'), line('tcp_connects_unreachable_total', 'unreachable', '不可达'), line('tcp_connects_given_up_total', 'abandoned by the caller', '调用方放弃'), line('tcp_connects_not_sent_total', 'no local port', '无可用端口'), line('tcp_connects_failed_total', 'other errors', '其他错误')]),
	panel('bad-packets', 'Bad segments and datagrams', '错误报文', '/s', [line('netstat_Tcp_InErrs', 'TCP, bad', 'TCP 错误'), line('netstat_Udp_InErrors', 'UDP, bad', 'UDP 错误'), line('netstat_Udp_RcvbufErrors', 'UDP, receive buffer full', 'UDP 接收缓冲满')]),
];

// Connections that an application opened or accepted.
const APPS = [
	each('app-sent', 'Bytes sent by TCP', 'TCP 发送字节', 'B/s', ['tcp_sent_bytes_total']),
	each('app-received', 'Bytes received by TCP', 'TCP 接收字节', 'B/s', ['tcp_received_bytes_total']),
	each('app-segments-out', 'Segments sent', '发送报文段', '/s', ['tcp_sent_segments_total']),
	each('app-segments-in', 'Segments received', '接收报文段', '/s', ['tcp_received_segments_total']),
	each('app-connections', 'Connections', '连接数', 'connections', ['tcp_connections']),
	each('app-accepts', 'Connections accepted', '接受的连接', '/s', ['tcp_accepts_total']),
	each('app-connects', 'Connections opened', '发起的连接', '/s', ['tcp_connects_total']),
	each('app-connect-ms', 'Mean time to connect', '建立连接平均耗时', 'ms', ['tcp_connect_time_seconds_total'], { by: 'tcp_connects_total', factor: MS }),
	each('app-not-connected', 'Connections that failed', '未建立的连接', '/s', ['tcp_connects_refused_total', 'tcp_connects_timed_out_total', 'tcp_connects_unreachable_total', 'tcp_connects_given_up_total', 'tcp_connects_not_sent_total', 'tcp_connects_failed_total']),
	each('app-again', 'Data segments retransmitted', '重传的数据报文段', '%', ['tcp_retransmits_total'], { by: 'tcp_sent_data_segments_total', factor: PERCENT }),
	each('app-timeouts', 'Retransmitted after a timeout', '超时重传', '/s', ['tcp_timeouts_total']),
	each('app-syn-again', 'SYN retransmitted', 'SYN 重传', '/s', ['tcp_syn_retransmits_total']),
];

// Counts that the kernel keeps per task, for programs and for cgroups (without their child cgroups).
const taskIo = (of) => [
	each(`${of}-task-read`, 'Read by its tasks, from disks', '任务读盘', 'B/s', ['task_read_bytes_total']),
	each(`${of}-task-cached`, 'Share of its tasks\' reads from the page cache', '任务读取命中页缓存的比例', '%', ['task_read_cached_bytes_total'], { by: 'task_rchar_bytes_total', factor: PERCENT }),
	each(`${of}-task-write`, 'Written by its tasks, to disks', '任务待写盘', 'B/s', ['task_write_bytes_total']),
	each(`${of}-task-rchar`, 'Read by its tasks, from anything', '任务读取（任意对象）', 'B/s', ['task_rchar_bytes_total']),
	each(`${of}-task-wchar`, 'Written by its tasks, to anything', '任务写入（任意对象）', 'B/s', ['task_wchar_bytes_total']),
	each(`${of}-task-calls`, 'Calls to read and write', '读写调用', '/s', ['task_read_calls_total', 'task_write_calls_total']),
];
const PROGRAMS = [
	...taskIo('program'),
	each('program-execs', 'Programs executed', '执行程序', '/s', ['program_execs_total']),
	each('program-exits', 'Its processes that ended', '结束的进程', '/s', ['program_exits_total']),
	each('program-failed', 'Of these, ended with an error or by a signal', '其中出错或被信号终止', '/s', ['program_exits_failed_total', 'program_exits_killed_total']),
];

// On demand: by mount and cgroup.
const FILES = [
	each('vfs-reads', 'Reads', '读', '/s', ['vfs_reads_total']),
	each('vfs-writes', 'Writes', '写', '/s', ['vfs_writes_total']),
	each('vfs-read', 'Read', '读取', 'B/s', ['vfs_read_bytes_total']),
	each('vfs-written', 'Written', '写入', 'B/s', ['vfs_written_bytes_total']),
	each('vfs-opens', 'Opens', '打开', '/s', ['vfs_opens_total']),
	each('vfs-creates', 'Files created', '新建文件', '/s', ['vfs_creates_total']),
	each('vfs-unlinks', 'Files unlinked', '删除文件', '/s', ['vfs_unlinks_total']),
	each('vfs-syncs', 'Syncs', '同步', '/s', ['vfs_syncs_total']),
	each('vfs-errors', 'Calls that failed', '失败的调用', '/s', ['vfs_read_errors_total', 'vfs_write_errors_total', 'vfs_open_errors_total', 'vfs_unlink_errors_total', 'vfs_sync_errors_total']),
	each('vfs-read-ms', 'Mean time of a read', '读平均耗时', 'ms', ['vfs_read_seconds_total'], { by: 'vfs_reads_total', factor: MS }),
	each('vfs-write-ms', 'Mean time of a write', '写平均耗时', 'ms', ['vfs_write_seconds_total'], { by: 'vfs_writes_total', factor: MS }),
	each('vfs-open-ms', 'Mean time of an open', '打开平均耗时', 'ms', ['vfs_open_seconds_total'], { by: 'vfs_opens_total', factor: MS }),
	each('vfs-unlink-ms', 'Mean time of an unlink', '删除平均耗时', 'ms', ['vfs_unlink_seconds_total'], { by: 'vfs_unlinks_total', factor: MS }),
	each('vfs-sync-ms', 'Mean time of a sync', '同步平均耗时', 'ms', ['vfs_sync_seconds_total'], { by: 'vfs_syncs_total', factor: MS }),
	heat('vfs-read-us', 'Read latency', '读耗时分布', 'µs', 'vfs_read_latency_us_*'),
	heat('vfs-write-us', 'Write latency', '写耗时分布', 'µs', 'vfs_write_latency_us_*'),
	heat('vfs-open-us', 'Open latency', '打开耗时分布', 'µs', 'vfs_open_latency_us_*'),
	heat('vfs-unlink-us', 'Unlink latency', '删除耗时分布', 'µs', 'vfs_unlink_latency_us_*'),
	heat('vfs-sync-us', 'Sync latency', '同步耗时分布', 'µs', 'vfs_sync_latency_us_*'),
];

// By timer function.
const TIMERS = [each('timer-functions', 'Timers that fired, by function', '到期的定时器（按函数）', '/s', ['timer_function_expirations_total'])];

// On demand: by kind of lock and calling function.
const LOCKS = [
	each('lock-waits', 'Waits', '等待次数', '/s', ['lock_waits_total']),
	each('lock-time', 'Time waited', '等待时间', '%', ['lock_wait_seconds_total'], { factor: PERCENT }),
	each('lock-ms', 'Mean time of a wait', '平均等待时长', 'ms', ['lock_wait_seconds_total'], { by: 'lock_waits_total', factor: MS }),
	heat('lock-us', 'Lock wait latency', '等待时长分布', 'µs', 'lock_wait_us_*'),
];

// On demand: by device, program and error.
const RDMA = [
	each('rdma-calls', 'Calls to ioctl', 'ioctl 调用', '/s', ['rdma_ioctl_calls_total']),
	each('rdma-errors', 'Of these, with an error', '其中出错', '/s', ['rdma_ioctl_errors_total']),
];

// A cgroup with all its child cgroups.
const CGROUPS = [
	each('cgroup-cpu', 'CPU used, of one CPU', 'CPU 用量（占单个处理器）', '%', ['container_cpu_usage_seconds_total'], { factor: PERCENT }),
	each('cgroup-cpu-wait', 'Waited for a CPU, of the timed part of the time', '等待 CPU（计时部分）', '%', ['cpu_wait_seconds_total'], { factor: PERCENT }),
	heat('cpu-wait-us', 'CPU wait latency of programs', '程序等待 CPU 的时长分布（有等待时）', 'µs', 'cpu_wait_latency_us_*'),
	each('cgroup-throttled', 'Throttled by its CPU quota', '因 CPU 配额而停', '%', ['container_cpu_cfs_throttled_seconds_total'], { factor: PERCENT }),
	each('cgroup-periods', 'Periods in which the quota was used up', '配额用尽的周期', '%', ['container_cpu_cfs_throttled_periods_total'], { by: 'container_cpu_cfs_periods_total', factor: PERCENT }),
	each('cgroup-memory', 'Memory in use (working set)', '内存工作集', 'bytes', ['container_memory_working_set_bytes']),
	each('cgroup-anon', 'Memory of its programs', '程序内存', 'bytes', ['container_memory_rss']),
	each('cgroup-cache', 'Page cache', '页缓存', 'bytes', ['container_memory_cache']),
	each('cgroup-swap', 'Swap', '交换', 'bytes', ['container_memory_swap']),
	each('cgroup-limit', 'Memory limits hit', '触及内存限制', '/s', ['container_memory_failcnt', 'container_memory_high_total']),
	each('cgroup-oom', 'Processes killed for memory', '因内存被杀的进程', '/s', ['container_oom_events_total']),
	each('cgroup-majfaults', 'Page faults that read a disk', '读盘的缺页', '/s', ['container_memory_pgmajfault_total']),
	each('cgroup-psi-cpu', 'Waiting for a CPU', '等待 CPU', '%', ['container_pressure_cpu_waiting_seconds_total'], { factor: PERCENT }),
	each('cgroup-psi-memory', 'Waiting for memory', '等待内存', '%', ['container_pressure_memory_waiting_seconds_total'], { factor: PERCENT }),
	each('cgroup-psi-io', 'Waiting for I/O', '等待 I/O', '%', ['container_pressure_io_waiting_seconds_total'], { factor: PERCENT }),
	each('cgroup-read', 'Read', '读', 'B/s', ['container_fs_reads_bytes_total']),
	each('cgroup-written', 'Written', '写', 'B/s', ['container_fs_writes_bytes_total']),
	each('cgroup-reads', 'Reads', '读请求', '/s', ['container_fs_reads_total']),
	each('cgroup-writes', 'Writes', '写请求', '/s', ['container_fs_writes_total']),
	each('cgroup-dentries', 'File names looked up by its tasks that were not in memory', '任务查找而内存中没有的文件名', '/s', ['dentry_misses_total']),
	each('cgroup-threads', 'Threads', '线程', 'threads', ['container_threads']),
	...taskIo('cgroup'),
];

const LOG = [
	panel('log-bad', 'Kernel log lines: warnings and worse', '内核日志：警告及以上', '/s', [line('kernel_log_warning_total', 'warning', '警告'), line('kernel_log_error_total', 'error', '错误'), line('kernel_log_critical_total', 'critical', '严重'), line('kernel_log_alert_total', 'alert', '告急'), line('kernel_log_emergency_total', 'emergency', '紧急')]),
	panel('log-other', 'Kernel log lines: others', '内核日志：其他', '/s', [line('kernel_log_notice_total', 'notice', '注意'), line('kernel_log_info_total', 'info', '信息'), line('kernel_log_debug_total', 'debug', '调试'), line('kernel_log_user_total', 'written by users', '用户写入')]),
];

const REQUESTS = [
	panel('requests', 'HTTP requests', 'HTTP 请求', '/s', [line('requests_seen', 'served here', '在此应答'), line('client_calls', 'calls to others', '向外请求')]),
	panel('abnormal', 'Abnormal requests', '异常请求', '/s', [line('rows', 'sent as rows', '成为行'), line('rows_withheld', 'withheld', '被扣留')]),
	panel('not-read', 'Not read', '未读', '/s', [line('unread', 'connections (TLS, HTTP/2 …)', '连接（TLS、HTTP/2 等）'), line('pipelined', 'pipelined', '流水线'), line('io_uring', 'io_uring', 'io_uring'), line('upstream_unknown', 'upstream calls without a request', '归属不明的上游调用'), line('calls_unclear', 'requests with unknown calls', '调用未知的请求'), line('calls_by_name', 'processes by names', '按名称判断的进程')]),
];

const PROBE = [
	panel('probe-cpu', 'CPU of the probe', '探针 CPU', '%', [line('process_cpu_seconds_total', 'of one CPU', '占单个处理器')], { factor: PERCENT }),
	panel('probe-memory', 'Memory of the probe', '探针内存', 'bytes', [line('process_resident_memory_bytes', 'resident', '常驻')]),
	panel('probe-files', 'Files opened by the probe', '探针打开的文件', 'files', [line('process_open_fds', 'open', '已打开')]),
	panel('probe-turn', 'Longest turn of the loop', '主循环最长一轮', 's', [line('loop_turn_longest_seconds', 'by the clock', '实际时间'), line('loop_turn_longest_cpu_seconds', 'CPU', 'CPU')]),
	panel('probe-refused', 'Files of other users not read', '拒读的他人文件', '/s', [line('foreign_elf_files_refused', 'programs and libraries', '程序与库'), line('foreign_perf_maps_refused', 'perf maps', 'perf 映射'), line('foreign_mappings_refused', 'lists of mappings', '内存映射表'), line('foreign_descriptors_refused', 'lists of open files', '打开文件表'), line('foreign_files_refused', 'all', '全部')]),
	each('source-cpu', 'CPU of each source, reading', '各数据源读取 CPU', '%', ['source_cpu_seconds_total'], { factor: PERCENT }),
	each('source-kernel', 'CPU of each source, its kernel programs', '各数据源内核程序 CPU', '%', ['source_program_seconds_total'], { factor: PERCENT }),
	each('source-runs', 'Runs of kernel programs', '内核程序运行次数', '/s', ['source_program_runs_total']),
	each('source-runs-missed', 'Runs of kernel programs skipped by the kernel', '内核略过的内核程序运行', '/s', ['source_program_runs_missed_total']),
	each('source-maps', 'Memory of kernel maps', '内核映射内存', 'bytes', ['source_map_bytes']),
	each('source-reads', 'Reads of each source', '各数据源读取次数', '/s', ['source_reads_total']),
	each('source-missed', 'Reads skipped or failed', '略过或失败的读取', '/s', ['source_reads_skipped_total', 'source_read_errors_total']),
	each('source-untold', 'Keys of your own programs that are not sent', '自有程序未上报的键', 'keys', ['program_keys_untold']),
	panel('log-lost', 'Kernel log lines missed by the probe', '探针漏掉的内核日志', '/s', [line('kernel_lines_lost', 'lost', '丢失'), line('kernel_lines_withheld', 'withheld', '被扣留')]),
	panel('lost', 'Requests missed by the probe', '探针漏掉的请求', '/s', [line('ring_full', 'ring full', '环满'), line('head_missed', 'first bytes missed', '错过开头'), line('user_fault', 'unreadable', '不可读'), line('uncounted', 'route table full', '路由表满'), line('nginx_lost', "nginx's own records", 'nginx 自身记录'), line('nginx_unread', 'nginx record unreadable', 'nginx 未读')]),
	panel('tables', 'Tables of the probe that were full', '探针中已满的表', '/s', [line('conn_full', 'connections', '连接'), line('calls_full', 'calls', '调用'), line('client_full', 'client calls', '客户端调用'), line('evidence_pushed_out', 'evidence', '证据'), line('late_bytes', 'late bytes', '迟到字节'), line('unjudged', 'baselines', '惯常耗时')]),
	panel('file-lost', 'File operations missed by the probe', '探针漏掉的文件操作', '/s', [line('file_ring_full', 'ring full', '环满'), line('file_operations_full', 'operations full', '操作表满'), line('file_detail_full', 'names and stacks', '名字与栈'), line('file_name_unknown', 'without a name', '无名'), line('file_slow_withheld', 'withheld', '被扣留'), line('file_samples_late', 'samples late', '采样迟到'), line('file_32bit_calls', '32-bit calls', '32 位调用')]),
	panel('kernel-lost', 'Kills, stuck tasks, reclaim and sockets missed by the probe', '探针漏掉的终止、停滞、回收与套接字', '/s', [line('oom_kills_withheld', 'kills', '终止'), line('stuck_tasks_withheld', 'stuck tasks', '停滞任务'), line('reclaim_untimed', 'reclaim without a time', '无时间的回收'), line('tcp_sockets_lost', 'sockets', '套接字'), line('cpu_waits_missed', 'waits for a CPU', 'CPU 等待'), line('vfs_calls_missed', 'calls on files', '文件调用'), line('lock_waits_missed', 'waits for locks', '锁等待')]),
	panel('profile-lost', 'Profile samples missed by the probe', '探针漏掉的剖析采样', '/s', [line('profile_ring_full', 'ring full', '环满'), line('profile_stacks_full', 'stacks full', '栈表满'), line('profile_stacks_unknown', 'stacks unknown', '未知栈')]),
	panel('undelivered', 'Not delivered', '未能送达', '/s', [line('requests_lost', 'requests', '请求'), line('samples_lost', 'samples', '采样'), line('batches_lost', 'batches', '批次')]),
	panel('state', 'State files not read or not saved', '探针自身文件被拒', '/s', [line('state_refused', 'not read', '未读'), line('state_unsaved', 'not saved', '未存')]),
	panel('cut', 'Devices left out because there are too many', '因过多而略去的设备', 'devices', [line('disk_devices_cut', 'disks', '磁盘'), line('network_devices_cut', 'interfaces', '接口')]),
	each('untimed', 'Disk requests without a time', '没有时间的磁盘请求', '/s', ['disk_untimed_total']),
];

// kind: of entity, where several kinds have metrics of the same name; entity: the word for the entities of its panels.
export const GROUPS = [
	{ name: 'cpu', title: ['CPU', 'CPU'], panels: CPU },
	{ name: 'pressure', title: ['Pressure', '压力'], panels: PRESSURE },
	{ name: 'memory', title: ['Memory', '内存'], panels: MEMORY },
	{ name: 'pages', title: ['Pages and files', '页与文件'], panels: PAGES },
	{ name: 'disks', title: ['Disks', '磁盘'], panels: DISKS, entity: ['disk'] },
	{ name: 'network', title: ['Network', '网络'], panels: NETWORK, entity: ['net'] },
	{ name: 'tcp', title: ['TCP and UDP', 'TCP 与 UDP'], panels: TCP, kind: 'node' },
	{ name: 'apps', title: ['TCP of applications', '应用的 TCP'], panels: APPS, entity: ['app'], kind: 'app' },
	{ name: 'cgroups', title: ['Cgroups and containers', 'Cgroup 与容器'], panels: CGROUPS, entity: ['cgroup'], kind: 'cgroup' },
	{ name: 'programs', title: ['Programs', '程序'], panels: PROGRAMS, entity: ['program'], kind: 'program' },
	{ name: 'vfs', title: ['Calls on files, by mount and cgroup', '文件调用（按挂载点与 cgroup）'], panels: FILES, entity: ['vfs'] },
	{ name: 'locks', title: ['Kernel locks', '内核锁'], panels: LOCKS, entity: ['lock'] },
	{ name: 'timers', title: ['Timers', '定时器'], panels: TIMERS, entity: ['timer'] },
	{ name: 'rdma', title: ['RDMA devices', 'RDMA 设备'], panels: RDMA, entity: ['rdma'] },
	{ name: 'log', title: ['Kernel log', '内核日志'], panels: LOG },
	{ name: 'requests', title: ['Requests', '请求'], panels: REQUESTS },
	{ name: 'probe', title: ['The probe itself', '探针自身'], panels: PROBE, entity: ['source'] },
];

// Metrics on no panel, with the reason. A name that ends in * stands for all names with that beginning.
export const NOT_DRAWN = {
	cpu_cycles_total: 'for the node it shows no more than CPU time; instructions are divided by it',
	cpu_instructions_total: 'drawn per cycle',
	boot_time_seconds: 'a point in time, the same until the next boot',
	filefd_maximum: 'far above any number of files: the other line would lie at 0',
	disk_io_now: 'one moment in every two seconds; disk-queue is its mean',
	'disk_reads_merged_total': 'merged requests are in the bytes',
	'disk_writes_merged_total': 'merged requests are in the bytes',
	'disk_discard*': 'rare, and no delay',
	'disk_read_device_seconds_total': 'the histograms show more',
	'disk_write_device_seconds_total': 'the histograms show more',
	'disk_flush_device_seconds_total': 'the histograms show more',
	container_cpu_user_seconds_total: 'within the CPU used',
	container_cpu_system_seconds_total: 'within the CPU used',
	'container_spec_*': 'a setting that does not change',
	container_threads_max: 'a setting that does not change',
	container_cgroups: 'how many cgroups one line stands for',
	container_memory_usage_bytes: 'the working set is what counts against the limit',
	container_memory_kernel_usage: 'within the working set',
	container_memory_pgfault_total: 'the faults that read a disk are drawn',
	container_pressure_cpu_stalled_seconds_total: 'within the time in which some waited',
	container_pressure_memory_stalled_seconds_total: 'within the time in which some waited',
	container_pressure_io_stalled_seconds_total: 'within the time in which some waited',
	task_cancelled_write_bytes_total: 'discarded before they were written: no delay',
	source_programs: 'a number that does not change; the runs do',
	network_receive_compressed_total: 'only dial-up interfaces have it',
	network_transmit_compressed_total: 'only dial-up interfaces have it',
	network_receive_multicast_total: 'within the packets received',
};

const isLike = (pattern, metric) => (pattern.endsWith('*') ? metric.startsWith(pattern.slice(0, -1)) : metric === pattern);
export const metricsOf = (p) => [...p.lines.map((l) => l.metric), ...(p.by ? [p.by] : []), ...(p.limit ? [p.limit.metric] : [])];

const OWN = 60; /* panels in one query */

// Metrics that a node sends but that are on no panel here, as from a newer probe.
const placed = [...GROUPS.flatMap((g) => g.panels.flatMap(metricsOf)), ...Object.keys(NOT_DRAWN)];
export const unplacedOf = (metrics) => metrics.filter((m) => !placed.some((p) => isLike(p, m)));

// Panels for such metrics, from the operator's own programs or a newer probe: each under its own name. Several metrics
// whose names differ only by a number at the end are a histogram.
const BUCKET = /_(\d+|more)$/;
export const ownGroup = (metrics) => {
	const patterns = new Set(unplacedOf(metrics).map((m) => (BUCKET.test(m) ? m.replace(BUCKET, '_*') : m)));
	const panels = [...patterns].sort().slice(0, OWN).map((m) => {
		const name = m.replace(/_\*$/, '');
		return { ...panel(`own-${name}`, name, name, '', [line(m, '')], { each: true, form: m.endsWith('_*') ? 'heat' : 'lines' }), fromWire: true };
	});
	return { name: 'own', title: ['Others: programs of your own', '其他：自有程序'], panels };
};

// The panels for which the node has ever sent a metric.
export const panelsFor = (group, metrics) => group.panels.filter((p) => p.lines.some((l) => metrics.some((m) => isLike(l.metric, m))));
