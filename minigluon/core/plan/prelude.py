"""What compiled code finds outside: addresses, layouts, and the functions in every module."""

from __future__ import annotations

from ...kernels import scalar

#: the table of addresses: what compiled code finds at each place
TABLE = (
    "ndarray", "float32", "float64", "None", "PyArray_New", "Py_IncRef", "Py_DecRef", "PyTuple_New",
    "PyTuple_SetItem", "PyMem_RawMalloc", "PyMem_RawFree", "PyEval_SaveThread",
    "PyEval_RestoreThread", "pthread_create", "pthread_join", "threads", "sgemm", "dgemm", "sgemv",
    "dgemv",
)  # fmt: skip
#: where CPython and numpy keep things, in bytes; checked when the first plan is compiled
LAYOUT = {"type": 8, "data": 16, "ndim": 24, "shape": 32, "descr": 56, "flags": 64}
#: in so many threads at most loops are run
THREADS = 32

PRELUDE = f"""
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
{scalar.declarations()}

define internal ptr @entry(ptr %table, i64 %k) alwaysinline {{
  %p = getelementptr ptr, ptr %table, i64 %k
  %v = load ptr, ptr %p
  ret ptr %v
}}

define internal i1 @fits(ptr %x, ptr %type, ptr %descr, i32 %ndim, ptr %shape) alwaysinline {{
start:
  %p0 = getelementptr i8, ptr %x, i64 {LAYOUT["type"]}
  %t = load ptr, ptr %p0
  %c0 = icmp eq ptr %t, %type
  br i1 %c0, label %array, label %no
array:
  %p1 = getelementptr i8, ptr %x, i64 {LAYOUT["descr"]}
  %d = load ptr, ptr %p1
  %c1 = icmp eq ptr %d, %descr
  %p2 = getelementptr i8, ptr %x, i64 {LAYOUT["ndim"]}
  %n = load i32, ptr %p2
  %c2 = icmp eq i32 %n, %ndim
  %p3 = getelementptr i8, ptr %x, i64 {LAYOUT["flags"]}
  %f = load i32, ptr %p3
  %g = and i32 %f, 257
  %c3 = icmp eq i32 %g, 257
  %c4 = and i1 %c1, %c2
  %c5 = and i1 %c4, %c3
  br i1 %c5, label %dims, label %no
dims:
  %p4 = getelementptr i8, ptr %x, i64 {LAYOUT["shape"]}
  %s = load ptr, ptr %p4
  %wide = sext i32 %ndim to i64
  %z = icmp eq i64 %wide, 0
  br i1 %z, label %yes, label %next
next:
  %i = phi i64 [0, %dims], [%i1, %more]
  %q0 = getelementptr i64, ptr %s, i64 %i
  %q1 = getelementptr i64, ptr %shape, i64 %i
  %l0 = load i64, ptr %q0
  %l1 = load i64, ptr %q1
  %e = icmp eq i64 %l0, %l1
  br i1 %e, label %more, label %no
more:
  %i1 = add i64 %i, 1
  %last = icmp eq i64 %i1, %wide
  br i1 %last, label %yes, label %next
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i1 @apart(ptr %places, ptr %sizes, i64 %targets, i64 %count) {{
start:
  br label %outer
outer:
  %k = phi i64 [0, %start], [%k1, %more]
  %k1 = add i64 %k, 1
  %pk = getelementptr ptr, ptr %places, i64 %k
  %sk = getelementptr i64, ptr %sizes, i64 %k
  %a = load i64, ptr %pk
  %n = load i64, ptr %sk
  %end = add i64 %a, %n
  br label %inner
inner:
  %j = phi i64 [%k1, %outer], [%j1, %fine]
  %last = icmp uge i64 %j, %count
  br i1 %last, label %more, label %look
look:
  %pj = getelementptr ptr, ptr %places, i64 %j
  %sj = getelementptr i64, ptr %sizes, i64 %j
  %b = load i64, ptr %pj
  %m = load i64, ptr %sj
  %endj = add i64 %b, %m
  %c = icmp ule i64 %end, %b
  %d = icmp ule i64 %endj, %a
  %e = or i1 %c, %d
  br i1 %e, label %fine, label %no
fine:
  %j1 = add i64 %j, 1
  br label %inner
more:
  %all = icmp uge i64 %k1, %targets
  br i1 %all, label %yes, label %outer
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i32 @share(
    ptr %table, ptr %worker, ptr %jobs, i64 %width, i64 %length, i64 %count
) {{
start:
  %ids = alloca [{THREADS} x i64]
  %up = add i64 %length, %count
  %up1 = sub i64 %up, 1
  %step = udiv i64 %up1, %count
  %create = call ptr @entry(ptr %table, i64 {TABLE.index("pthread_create")})
  %join = call ptr @entry(ptr %table, i64 {TABLE.index("pthread_join")})
  br label %next
next:
  %k = phi i64 [%count, %start], [%k1, %made]
  %k1 = sub i64 %k, 1
  %at = mul i64 %k1, %width
  %job = getelementptr i8, ptr %jobs, i64 %at
  %from = mul i64 %k1, %step
  %from1 = call i64 @llvm.umin.i64(i64 %from, i64 %length)
  %to = add i64 %from1, %step
  %to1 = call i64 @llvm.umin.i64(i64 %to, i64 %length)
  %first = icmp eq i64 %k1, 0
  br i1 %first, label %fill, label %copy
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %job, ptr %jobs, i64 %width, i1 false)
  br label %fill
fill:
  store i64 %from1, ptr %job
  %q1 = getelementptr i64, ptr %job, i64 1
  store i64 %to1, ptr %q1
  %q2 = getelementptr i64, ptr %job, i64 2
  store i64 0, ptr %q2
  %id = getelementptr i64, ptr %ids, i64 %k1
  store i64 0, ptr %id
  br i1 %first, label %mine, label %other
other:
  %failed = call i32 %create(ptr %id, ptr null, ptr %worker, ptr %job)
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %made, label %here
here:
  store i64 0, ptr %id
  %unused = call ptr %worker(ptr %job)
  br label %made
made:
  br label %next
mine:
  %unused1 = call ptr %worker(ptr %jobs)
  %o0 = getelementptr i64, ptr %jobs, i64 2
  %r0 = load i64, ptr %o0
  br label %wait
wait:
  %j = phi i64 [1, %mine], [%j1, %waited]
  %r = phi i64 [%r0, %mine], [%r2, %waited]
  %done = icmp uge i64 %j, %count
  br i1 %done, label %out, label %look
look:
  %idj = getelementptr i64, ptr %ids, i64 %j
  %t = load i64, ptr %idj
  %none = icmp eq i64 %t, 0
  br i1 %none, label %waited, label %wait1
wait1:
  %unused2 = call i32 %join(i64 %t, ptr null)
  br label %waited
waited:
  %atj = mul i64 %j, %width
  %jobj = getelementptr i8, ptr %jobs, i64 %atj
  %oj = getelementptr i64, ptr %jobj, i64 2
  %rj = load i64, ptr %oj
  %r2 = or i64 %r, %rj
  %j1 = add i64 %j, 1
  br label %wait
out:
  %result = trunc i64 %r to i32
  ret i32 %result
}}

define internal void @fill(ptr %p, i64 %n, i32 %v) {{
start:
  br label %next
next:
  %i = phi i64 [0, %start], [%i1, %next]
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 %v, ptr %q
  %i1 = add i64 %i, 1
  %c = icmp eq i64 %i1, %n
  br i1 %c, label %done, label %next
done:
  ret void
}}
"""
