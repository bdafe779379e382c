	.text
kernel_fused:
	vmovups	(%rdi), %zmm9
.LBB0_1:                                # the outer loop does not count
	vmovups	%zmm9, 64(%rsp)
.LBB0_2:
	vmovups	(%rdi,%rax,4), %zmm0    # a load
	vbroadcastss	8(%rsi), %zmm1  # a load
	vfmadd231ps	%zmm0, %zmm1, %zmm2
	vfmadd231ps	4(%rsi){1to16}, %zmm0, %zmm3
	vmovups	%zmm2, 128(%rsp)        # a spill, no load
	vmovups	128(%rsp), %zmm4        # a spill and a load
	vmovups	%zmm3, (%rdx) {%k1}     # a store
	vaddss	%xmm1, %xmm2, %xmm3     # scalar
	prefetcht0	512(%rdi)
	jne	.LBB0_2
	cmpq	%rax, %rbx
	jl	.LBB0_1
	retq
other:
.LBB1_1:
	vpermps	%zmm0, %zmm1, %zmm2
	vmulpd	%ymm0, %ymm1, %ymm2
	jne	.LBB1_1
	jmp	.LBB1_3
.LBB1_3:
	retq
