// SPDX-License-Identifier: Apache-2.0
// Texts of the page of the database's disk.
export const diskMessages = {
	'title.storage': ['Storage', '存储'],
	'disk.line': ['Storage: {what}', '存储：{what}'],
	'disk.sum': ['The database takes {used} of {allowed} allowed; {free} of {total} on its disk are free.', '数据库占用 {used}，上限 {allowed}；其磁盘 {total} 中剩余 {free}。'],
	'disk.full': ['full in {time}', '{time} 后写满'],
	'disk.state.off': ['no limit', '无上限'],
	'disk.state.dropping': ['near the limit: old data is dropped', '接近上限：正在删除旧数据'],
	'disk.state.full': ['at the limit: batches wait on their nodes', '达到上限：数据在节点上等待'],
	'disk.order': ['Near the limit (max_disk) data is dropped in this order: profiles, raw samples, request counts, rows of the commonest group, the oldest hours. The newest hour always stays.', '接近上限（max_disk）时按此顺序删除：性能剖析、原始样本、请求计数、最常见一组的行、最旧的小时；最近一小时始终保留。'],
	'disk.table': ['table', '表'],
	'disk.bytes': ['size', '大小'],
	'disk.at': ['dropped', '删除时间'],
	'disk.step': ['kind', '类别'],
	'disk.from': ['from', '自'],
	'disk.to': ['to', '至'],
	'disk.rows': ['rows', '行数'],
	'disk.step.1': ['profiles', '性能剖析'],
	'disk.step.2': ['raw samples', '原始样本'],
	'disk.step.3': ['request counts', '请求计数'],
	'disk.step.4': ['commonest group', '最常见的一组'],
	'disk.step.5': ['oldest hours', '最旧的小时'],
};
